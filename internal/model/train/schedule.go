package train

import (
	"fmt"
	"math"
	"slices"
)

// The forms of a learning rate after its warmup, as transformers names them.
const (
	Constant    = "constant"
	Linear      = "linear"       // falls to 0 at the end
	Cosine      = "cosine"       // falls to 0 at the end, along half a wave
	InverseSqrt = "inverse_sqrt" // falls with the root of the step
)

// Schedule is a learning rate that rises from 0 over a warmup and then follows a form:
// transformers' get_FORM_schedule_with_warmup and get_inverse_sqrt_schedule.
type Schedule struct {
	Rate   float64
	Warmup int64  // steps; 0: none
	Form   string // "": Constant
	Steps  int64  // of the training, where the form depends on it
}

// timescale, in steps, is for an inverse square root without a warmup.
const timescale = 10_000

// At is the learning rate of a step, counted from 0. The first of a warmup is 0.
func (s Schedule) At(step int64) float64 {
	if step < s.Warmup {
		return s.Rate * float64(step) / float64(s.Warmup)
	}
	switch after := float64(step - s.Warmup); s.Form {
	case Linear:
		return s.Rate * max(0, float64(s.Steps-step)/float64(max(1, s.Steps-s.Warmup)))
	case Cosine:
		return s.Rate * max(0, 0.5*(1+math.Cos(math.Pi*after/float64(max(1, s.Steps-s.Warmup)))))
	case InverseSqrt:
		scale := float64(s.Warmup)
		if s.Warmup == 0 {
			scale = timescale
		}
		return s.Rate / math.Sqrt((after+scale)/scale)
	}
	return s.Rate
}

// DependsOnSteps reports whether the rate of a step is another one in a longer training.
func (s Schedule) DependsOnSteps() bool { return s.Form == Linear || s.Form == Cosine }

func (s Schedule) check() error {
	switch {
	case !(s.Rate > 0) || !Finite(s.Rate):
		return fmt.Errorf("learning rate %v; it must be above 0", s.Rate)
	case s.Warmup < 0:
		return fmt.Errorf("warmup of %d steps", s.Warmup)
	case !slices.Contains([]string{"", Constant, Linear, Cosine, InverseSqrt}, s.Form):
		return fmt.Errorf("a learning rate that is %q; it is %s, %s, %s or %s", s.Form, Constant, Linear, Cosine, InverseSqrt)
	case s.DependsOnSteps() && s.Steps < 1:
		return fmt.Errorf("a %s learning rate to the end of %d steps", s.Form, s.Steps)
	}
	return nil
}
