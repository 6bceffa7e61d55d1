package optimizer

import (
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/system/lists"
)

// AdafactorOptions are transformers' arguments of the same names.
type AdafactorOptions = tensor.AdafactorOptions

// AdafactorDefaults are transformers' defaults.
func AdafactorDefaults() AdafactorOptions {
	return AdafactorOptions{ScaleParameter: true, Eps1: 1e-30, Eps2: 1e-3, ClipThreshold: 1, DecayRate: -0.8}
}

// Adafactor is an Optimizer whose state is NAME.exp_avg_sq_row and so on, as transformers names them.
type Adafactor struct {
	*state
	options AdafactorOptions
	moments []moments
	classes *classes // once StepOn was called
}

// moments are the places of a parameter's running means of squared gradients: over
// columns and over rows for a matrix, in full for a vector; -1: there is none.
type moments struct{ row, col, full int }

// NewAdafactor is an optimizer at step 0.
func NewAdafactor(params []checkpoint.Named, o AdafactorOptions) (*Adafactor, error) {
	if !(o.Eps1 > 0) || !(o.ClipThreshold > 0) || o.DecayRate >= 0 || o.WeightDecay < 0 || o.Eps2 < 0 {
		return nil, fmt.Errorf("adafactor: options %+v", o)
	}
	a := &Adafactor{options: o}
	var err error
	a.state, err = begin(params, func(s *state, p checkpoint.Named) {
		shape, m := p.Tensor.Shape(), moments{-1, -1, -1}
		switch len(shape) {
		case 0, 1:
			m.full = s.zeros(p, ".exp_avg_sq", shape...)
		case 2:
			m.row, m.col = s.zeros(p, ".exp_avg_sq_row", shape[0]), s.zeros(p, ".exp_avg_sq_col", shape[1])
		default:
			tensor.Failf("Adafactor", "%s has shape %v; vectors and matrices are supported", p.Name, shape)
		}
		a.moments = append(a.moments, m)
	})
	return a, err
}

func (a *Adafactor) Step(grads []*tensor.Tensor, rate float64) {
	a.fits("Adafactor", grads)
	step := a.next()
	for i, p := range a.params {
		m := a.moments[i]
		a.scope.AdafactorInPlace(p.Tensor, grads[i], a.at(m.row), a.at(m.col), a.at(m.full), a.options, rate, step)
	}
}

// StepOn implements Optimizer. It takes copies of up to 2²⁷ elements of gradients, and 4 bytes for each of up to 2²⁷
// elements, or of the largest parameter's.
func (a *Adafactor) StepOn(grads []*tensor.Tensor, rate *tensor.Tensor, scaler *amp.Scaler) {
	a.fits("Adafactor", grads)
	if len(a.params) == 0 {
		return
	}
	if a.classes == nil {
		a.classes = a.classify()
	}
	c := a.classes
	ordered := lists.Map(c.order, func(p int) *tensor.Tensor { return grads[p] })
	steps, found, divisor := a.nextOn(scaler)
	if c.at.Steps = steps; len(ordered) > 0 {
		a.scope.AdafactorAllInPlace(c.params, ordered, c.at, rate, found, divisor, a.options)
	}
}

func (a *Adafactor) Read(r io.ReaderAt, size int64) error {
	if err := a.state.Read(r, size); err != nil {
		return err
	}
	a.release()
	return nil
}

func (a *Adafactor) Close() {
	a.release()
	a.state.Close()
}

func (a *Adafactor) release() {
	if a.classes != nil {
		a.classes.scope.Close()
		a.classes = nil
	}
}
