package adafactor

import (
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Options are transformers' arguments of the same names.
type Options struct {
	ScaleParameter bool    // multiply the rate by max(Eps2, rms(parameter))
	Eps1, Eps2     float64 // eps
	ClipThreshold  float64
	DecayRate      float64
	WeightDecay    float64
}

// Defaults are transformers' defaults.
func Defaults() Options {
	return Options{ScaleParameter: true, Eps1: 1e-30, Eps2: 1e-3, ClipThreshold: 1, DecayRate: -0.8}
}

// Optimizer is the state for a list of parameters: NAME.exp_avg_sq_row and so on, as
// transformers names them.
type Optimizer struct {
	*checkpoint.State
	options Options
	params  []checkpoint.Named
	moments []moments
	classes *classes // once StepOn was called
}

// moments are the places of a parameter's running means of squared gradients: over
// columns and over rows for a matrix, in full for a vector; -1: there is none.
type moments struct{ row, col, full int }

// New is an optimizer at step 0. It does not own the parameters.
func New(params []checkpoint.Named, o Options) (*Optimizer, error) {
	if !(o.Eps1 > 0) || !(o.ClipThreshold > 0) || o.DecayRate >= 0 || o.WeightDecay < 0 || o.Eps2 < 0 {
		return nil, fmt.Errorf("adafactor: options %+v", o)
	}
	a := &Optimizer{State: checkpoint.NewState(), options: o, params: params}
	err := tensor.Try(func() {
		for _, p := range params {
			shape, dev := p.Tensor.Shape(), p.Tensor.Device()
			m := moments{-1, -1, -1}
			switch len(shape) {
			case 0, 1:
				m.full = a.Zeros(p.Name+".exp_avg_sq", dev, shape...)
			case 2:
				m.row = a.Zeros(p.Name+".exp_avg_sq_row", dev, shape[0])
				m.col = a.Zeros(p.Name+".exp_avg_sq_col", dev, shape[1])
			default:
				tensor.Failf("Adafactor", "%s has shape %v; vectors and matrices are known", p.Name, shape)
			}
			a.moments = append(a.moments, m)
		}
	})
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Step updates every parameter with its gradient, in the order of New, at learning
// rate lr. It must be called within tensor.Run or tensor.Try.
func (a *Optimizer) Step(grads []*tensor.Tensor, lr float64) {
	if len(grads) != len(a.params) {
		tensor.Failf("Adafactor", "%d gradients for %d parameters", len(grads), len(a.params))
	}
	o := tensor.AdafactorOptions{
		Rate: lr, Beta2: 1 - math.Pow(float64(a.Next()), a.options.DecayRate), Eps1: a.options.Eps1, Eps2: a.options.Eps2,
		Clip: a.options.ClipThreshold, WeightDecay: a.options.WeightDecay, ScaleParameter: a.options.ScaleParameter,
	}
	for i, p := range a.params {
		m := a.moments[i]
		a.Scope.AdafactorInPlace(p.Tensor, grads[i], a.At(m.row), a.At(m.col), a.At(m.full), o)
	}
}
