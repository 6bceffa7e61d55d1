package train

import (
	"encoding/json"
	"io"
	"math"
)

// Point is one line of a training curve.
type Point struct {
	Step    int64              `json:"step"`                              // updates made
	Seconds float64            `json:"seconds" unit:"s"`                  // wall clock of training and evaluation, over all resumed parts
	Loss    float64            `json:"loss"`                              // mean over the steps since the last point
	Rate    float64            `json:"lr"`                                // of the last step
	Metrics map[string]float64 `json:"metrics,omitempty" unit:"fraction"` // of an evaluation at this step
}

// Curve is a run's history, in order of steps.
type Curve struct {
	Select string  `json:"select"` // the metric by which the best point is chosen
	Points []Point `json:"points"`

	Stopped string `json:"stopped,omitempty"` // why the last point is not of the last step that was asked for
}

// Best returns the point of the highest selected metric, the first of equals; false if nothing was evaluated.
func (c *Curve) Best() (Point, bool) {
	best, found := Point{}, false
	for _, p := range c.Points {
		if v, ok := p.Metrics[c.Select]; ok && (!found || v > best.Metrics[c.Select]) {
			best, found = p, true
		}
	}
	return best, found
}

// Stops is the step at which so many evaluations in a row gave no better value of the
// selected metric than one before them; false if none does.
func (c *Curve) Stops(patience int) (step int64, stops bool) {
	if patience < 1 {
		return 0, false
	}
	best, since := math.Inf(-1), 0
	for _, p := range c.Points {
		if v, ok := p.Metrics[c.Select]; ok && v > best {
			best, since = v, 0
		} else if since++; since == patience {
			return p.Step, true
		}
	}
	return 0, false
}

func (c *Curve) Seconds() float64 {
	if len(c.Points) == 0 {
		return 0
	}
	return c.Points[len(c.Points)-1].Seconds
}

// Write writes the curve as JSON.
func (c *Curve) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(c)
}

// Finite says whether v is a number, and not an infinite one.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
