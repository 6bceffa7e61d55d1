package compute

import (
	"io"
	"time"

	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

func newTrainReport(c *train.Curve, best train.Point) model.TrainReport {
	r := model.TrainReport{BestStep: best.Step, Metrics: best.Metrics, SecondsToBest: best.Seconds, Seconds: c.Seconds()}
	for _, p := range c.Points {
		if p.Metrics[c.Select] >= 0.95*best.Metrics[c.Select] {
			r.StepsTo95, r.SecondsTo95, r.MRRAt95 = p.Step, p.Seconds, p.Metrics["MRR@10"]
			break
		}
	}
	return r
}

// writeCurve writes a curve as JSON and for TensorBoard.
func writeCurve(x *step.IO, c *train.Curve) error {
	start := time.Now().Add(-time.Duration(c.Seconds() * float64(time.Second)))
	return inout.WriteAll(x, map[string]func(io.Writer) error{
		"curve": c.Write, "events": func(w io.Writer) error { return c.WriteEvents(w, start) }})
}
