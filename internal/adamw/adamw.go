//go:build !notorch

package adamw

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/tensor/checkpoint"
	"github.com/redsi/redsi/internal/tensor/safetensors"
)

// Options are torch's arguments of the same names.
type Options struct {
	Beta1, Beta2 float64 // betas
	Eps          float64
	WeightDecay  float64
}

// Parameter is what the optimizer changes.
type Parameter struct {
	Name   string
	Tensor *tensor.Tensor
}

// Decays reports whether a parameter of a name has weight decay: transformers' Trainer
// leaves out biases, among them T5's relative_attention_bias, and layer norms. It knows
// layer norms by their type, which for mT5 it does not; here they go by their names.
func Decays(name string) bool {
	return !strings.Contains(name, "bias") && !strings.Contains(name, "layer_norm") && !strings.Contains(name, "layernorm")
}

// means are a parameter's running means of gradients and of their squares.
type means struct{ first, second *tensor.Tensor }

// Optimizer is the state for a list of parameters.
type Optimizer struct {
	options Options
	params  []Parameter
	state   []means
	scope   *tensor.Scope
	step    int64
}

// New is an optimizer at step 0. It does not own the parameters.
func New(params []Parameter, o Options) (*Optimizer, error) {
	if !(o.Beta1 >= 0 && o.Beta1 < 1) || !(o.Beta2 >= 0 && o.Beta2 < 1) || !(o.Eps > 0) || !(o.WeightDecay >= 0) {
		return nil, fmt.Errorf("adamw: options %+v", o)
	}
	a := &Optimizer{options: o, params: params, scope: tensor.NewScope()}
	err := tensor.Try(func() {
		for _, p := range params {
			shape, dev := p.Tensor.Shape(), p.Tensor.Device()
			a.state = append(a.state, means{a.scope.Zeros(tensor.F32, dev, shape...), a.scope.Zeros(tensor.F32, dev, shape...)})
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
		tensor.Failf("AdamW", "%d gradients for %d parameters", len(grads), len(a.params))
	}
	a.step++
	for i, p := range a.params {
		o := tensor.AdamWOptions{Rate: lr, Beta1: a.options.Beta1, Beta2: a.options.Beta2, Eps: a.options.Eps, Step: a.step}
		if Decays(p.Name) {
			o.WeightDecay = a.options.WeightDecay
		}
		a.scope.AdamWInPlace(p.Tensor, grads[i], a.state[i].first, a.state[i].second, o)
	}
}

const stepKey = "step"

// Write writes the state as a safetensors file: NAME.exp_avg and NAME.exp_avg_sq, as torch
// names them, and the number of steps.
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
		return fmt.Errorf("adamw: %q steps; not a state of this optimizer", header.Metadata[stepKey])
	}
	f, err := checkpoint.Open(r, size)
	if err != nil {
		return err
	}
	fresh := &Optimizer{options: a.options, params: a.params, state: append([]means(nil), a.state...), scope: tensor.NewScope(), step: step}
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
		return fmt.Errorf("adamw: %w", err)
	}
	a.scope.Close()
	*a = *fresh
	return nil
}

// each calls f with every tensor of the state, until an error.
func (a *Optimizer) each(f func(name string, t **tensor.Tensor) error) error {
	for i, p := range a.params {
		m := &a.state[i]
		if err := f(p.Name+".exp_avg", &m.first); err != nil {
			return err
		}
		if err := f(p.Name+".exp_avg_sq", &m.second); err != nil {
			return err
		}
	}
	return nil
}
