//go:build !notorch

package model

import (
	"errors"
	"time"

	"github.com/redsi/redsi/internal/train"
	"github.com/redsi/redsi/step"
)

// trainReport is the report of a train step. Metrics are fractions; seconds are
// wall clock, evaluations and resumed parts included.
type trainReport struct {
	Parameters int64              `json:"parameters"` // trainable numbers, tied ones counted once
	Steps      int64              `json:"steps"`
	BestStep   int64              `json:"best_step"`
	Metrics    map[string]float64 `json:"metrics"` // of the selected checkpoint
	Indexing   int                `json:"indexing_examples"`
	Retrieval  int                `json:"retrieval_examples"`

	Seconds       float64 `json:"seconds"`
	SecondsToBest float64 `json:"seconds_to_best"`

	// The first evaluation whose selecting metric is at least 95 % of the best
	// (figure "model scaling and training", hollow markers).
	StepsTo95   int64   `json:"steps_to_95_percent"`
	SecondsTo95 float64 `json:"seconds_to_95_percent"`
	MRRAt95     float64 `json:"mrr_at_95_percent"`

	Device    string `json:"device"`
	Threads   int    `json:"threads"`    // of one operation on the CPU
	ResumedAt int64  `json:"resumed_at"` // step at which the last process went on; 0: at the start
}

func newTrainReport(c *train.Curve, best train.Point) trainReport {
	r := trainReport{BestStep: best.Step, Metrics: best.Metrics, SecondsToBest: best.Seconds}
	for _, p := range c.Points {
		if p.Metrics[c.Select] >= 0.95*best.Metrics[c.Select] {
			r.StepsTo95, r.SecondsTo95, r.MRRAt95 = p.Step, p.Seconds, p.Metrics["MRR@10"]
			break
		}
	}
	if n := len(c.Points); n > 0 {
		r.Seconds = c.Points[n-1].Seconds
	}
	return r
}

// writeCurve writes a curve as JSON and for TensorBoard.
func writeCurve(x *step.IO, c *train.Curve) error {
	w, err := x.Create("curve")
	if err != nil {
		return err
	}
	if err := errors.Join(c.Write(w), w.Close()); err != nil {
		return err
	}
	if w, err = x.Create("events"); err != nil {
		return err
	}
	seconds := 0.0
	if n := len(c.Points); n > 0 {
		seconds = c.Points[n-1].Seconds
	}
	start := time.Now().Add(-time.Duration(seconds * float64(time.Second)))
	return errors.Join(c.WriteEvents(w, start), w.Close())
}
