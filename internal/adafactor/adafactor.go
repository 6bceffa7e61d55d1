//go:build !notorch

package adafactor

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/tensor/checkpoint"
	"github.com/redsi/redsi/internal/tensor/safetensors"
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

// Parameter is what the optimizer changes.
type Parameter struct {
	Name   string
	Tensor *tensor.Tensor
}

// moments are a parameter's running means of squared gradients: over columns and
// over rows for a matrix, in full for a vector.
type moments struct{ row, col, full *tensor.Tensor }

// Optimizer is the state for a list of parameters.
type Optimizer struct {
	options Options
	params  []Parameter
	state   []moments
	scope   *tensor.Scope
	step    int64
}

// New is an optimizer at step 0. It does not own the parameters.
func New(params []Parameter, o Options) (*Optimizer, error) {
	if !(o.Eps1 > 0) || !(o.ClipThreshold > 0) || o.DecayRate >= 0 || o.WeightDecay < 0 || o.Eps2 < 0 {
		return nil, fmt.Errorf("adafactor: options %+v", o)
	}
	a := &Optimizer{options: o, params: params, scope: tensor.NewScope()}
	err := tensor.Try(func() {
		for _, p := range params {
			shape, dev := p.Tensor.Shape(), p.Tensor.Device()
			var m moments
			if n := len(shape); n >= 2 {
				m.row = a.scope.Zeros(tensor.F32, dev, shape[:n-1]...)
				m.col = a.scope.Zeros(tensor.F32, dev, append(append([]int64{}, shape[:n-2]...), shape[n-1])...)
			} else {
				m.full = a.scope.Zeros(tensor.F32, dev, shape...)
			}
			a.state = append(a.state, m)
		}
	})
	if err != nil {
		a.scope.Close()
		return nil, err
	}
	return a, nil
}

// Close frees the state.
func (a *Optimizer) Close() { a.scope.Close() }

// Steps is the number of updates made.
func (a *Optimizer) Steps() int64 { return a.step }

// Step updates every parameter with its gradient, in the order of New, at learning
// rate lr. It must be called within tensor.Run or tensor.Try.
func (a *Optimizer) Step(grads []*tensor.Tensor, lr float64) {
	if len(grads) != len(a.params) {
		tensor.Failf("Adafactor", "%d gradients for %d parameters", len(grads), len(a.params))
	}
	a.step++
	o := tensor.AdafactorOptions{
		Rate: lr, Beta2: 1 - math.Pow(float64(a.step), a.options.DecayRate), Eps1: a.options.Eps1, Eps2: a.options.Eps2,
		Clip: a.options.ClipThreshold, WeightDecay: a.options.WeightDecay, ScaleParameter: a.options.ScaleParameter,
	}
	for i, p := range a.params {
		m := a.state[i]
		a.scope.AdafactorInPlace(p.Tensor, grads[i], m.row, m.col, m.full, o)
	}
}

const stepKey = "step"

// Write writes the state as a safetensors file: NAME.exp_avg_sq_row and so on, as
// transformers names them, and the number of steps.
func (a *Optimizer) Write(w io.Writer) error {
	var failed error
	err := tensor.Try(func() {
		var all []checkpoint.Named
		a.each(func(name string, t **tensor.Tensor) error {
			all = append(all, checkpoint.Named{Name: name, Tensor: *t})
			return nil
		})
		failed = checkpoint.Write(w, map[string]string{stepKey: strconv.FormatInt(a.step, 10)}, all)
	})
	return errors.Join(failed, err)
}

// Read restores a state that Write wrote for the same parameters. After an error
// the optimizer is as it was.
func (a *Optimizer) Read(r io.ReaderAt, size int64) error {
	header, err := safetensors.Open(r, size)
	if err != nil {
		return err
	}
	step, err := strconv.ParseInt(header.Metadata[stepKey], 10, 64)
	if err != nil || step < 0 {
		return fmt.Errorf("adafactor: %q steps; not a state of this optimizer", header.Metadata[stepKey])
	}
	f, err := checkpoint.Open(r, size)
	if err != nil {
		return err
	}
	fresh := &Optimizer{options: a.options, params: a.params, state: append([]moments(nil), a.state...), scope: tensor.NewScope(), step: step}
	var failed error
	err = tensor.Try(func() {
		failed = fresh.each(func(name string, t **tensor.Tensor) error {
			read, err := f.Tensor(fresh.scope, name, tensor.F32, (*t).Device(), (*t).Shape()...)
			*t = read
			return err
		})
	})
	if err = errors.Join(failed, err); err != nil {
		fresh.scope.Close()
		return fmt.Errorf("adafactor: %w", err)
	}
	a.scope.Close()
	*a = *fresh
	return nil
}

// each calls f with every tensor of the state, until an error.
func (a *Optimizer) each(f func(name string, t **tensor.Tensor) error) error {
	for i, p := range a.params {
		m := &a.state[i]
		for _, part := range []struct {
			name string
			t    **tensor.Tensor
		}{{"exp_avg_sq_row", &m.row}, {"exp_avg_sq_col", &m.col}, {"exp_avg_sq", &m.full}} {
			if *part.t == nil {
				continue
			}
			if err := f(p.Name+"."+part.name, part.t); err != nil {
				return err
			}
		}
	}
	return nil
}
