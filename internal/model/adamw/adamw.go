package adamw

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Options are torch's arguments of the same names.
type Options struct {
	Beta1, Beta2 float64 // betas
	Eps          float64
	WeightDecay  float64
}

// Decays reports whether a parameter of a name has weight decay: transformers' Trainer
// leaves out biases, among them T5's relative_attention_bias, and layer norms. It knows
// layer norms by their type, which for mT5 it does not; here they go by their names.
func Decays(name string) bool {
	return !strings.Contains(name, "bias") && !strings.Contains(name, "layer_norm") && !strings.Contains(name, "layernorm")
}

// Optimizer is the state for a list of parameters: NAME.exp_avg and NAME.exp_avg_sq, as
// torch names them.
type Optimizer struct {
	*checkpoint.State
	options Options
	params  []checkpoint.Named
	means   []means
}

// means are the places of a parameter's running means of gradients and of their squares.
type means struct{ first, second int }

// New is an optimizer at step 0. It does not own the parameters.
func New(params []checkpoint.Named, o Options) (*Optimizer, error) {
	if !(o.Beta1 >= 0 && o.Beta1 < 1) || !(o.Beta2 >= 0 && o.Beta2 < 1) || !(o.Eps > 0) || !(o.WeightDecay >= 0) {
		return nil, fmt.Errorf("adamw: options %+v", o)
	}
	a := &Optimizer{State: checkpoint.NewState(), options: o, params: params}
	err := tensor.Try(func() {
		for _, p := range params {
			shape, dev := p.Tensor.Shape(), p.Tensor.Device()
			a.means = append(a.means, means{a.Zeros(p.Name+".exp_avg", dev, shape...), a.Zeros(p.Name+".exp_avg_sq", dev, shape...)})
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
		tensor.Failf("AdamW", "%d gradients for %d parameters", len(grads), len(a.params))
	}
	o := tensor.AdamWOptions{Rate: lr, Beta1: a.options.Beta1, Beta2: a.options.Beta2, Eps: a.options.Eps, Step: a.Next()}
	for i, p := range a.params {
		o.WeightDecay = 0
		if Decays(p.Name) {
			o.WeightDecay = a.options.WeightDecay
		}
		a.Scope.AdamWInPlace(p.Tensor, grads[i], a.At(a.means[i].first), a.At(a.means[i].second), o)
	}
}

// StepOn is Step without waiting for the device, where rate is, float32 [1]: every parameter is
// updated with its gradient, of any float type, divided by what scaler says, and nothing changes
// where scaler found an update bad, which does not count either. Scaler, which has checked these
// gradients, may be nil.
// It takes few operations, whatever the number of parameters, and 4 bytes for each of up to 2²⁷
// elements of gradients, or of the largest parameter's, that are not float32; those that are it
// divides in place.
//
// A call that was recorded may be replayed, until the optimizer's next Step or Read: all that changes
// from update to update are the values of tensors. The first call after New, Step or Read makes the
// counter of updates, and is not one to record.
func (a *Optimizer) StepOn(grads []*tensor.Tensor, rate *tensor.Tensor, scaler *amp.Scaler) {
	if len(grads) != len(a.params) {
		tensor.Failf("AdamW", "%d gradients for %d parameters", len(grads), len(a.params))
	}
	if len(a.params) == 0 {
		return
	}
	var found, divisor *tensor.Tensor
	if scaler != nil {
		found, divisor = scaler.Found(), scaler.Divisor()
	}
	steps := a.NextOn(a.params[0].Tensor.Device(), found)
	o := tensor.AdamWOptions{Beta1: a.options.Beta1, Beta2: a.options.Beta2, Eps: a.options.Eps}
	for _, decays := range []bool{false, true} {
		var p, g, first, second []*tensor.Tensor
		for i, of := range a.params {
			if Decays(of.Name) != decays || of.Tensor.Numel() == 0 {
				continue
			}
			p, g = append(p, of.Tensor), append(g, grads[i])
			first, second = append(first, a.At(a.means[i].first)), append(second, a.At(a.means[i].second))
		}
		o.WeightDecay = 0
		if decays {
			o.WeightDecay = a.options.WeightDecay
		}
		if len(p) > 0 {
			a.Scope.AdamWAllInPlace(p, g, first, second, steps, rate, found, divisor, o)
		}
	}
}
