package optimizer

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// AdamWOptions are torch's arguments of the same names.
type AdamWOptions = tensor.AdamWOptions

// Decays reports whether a parameter of a name has weight decay: transformers' Trainer
// leaves out biases, among them T5's relative_attention_bias, and layer norms. It knows
// layer norms by their type, which for mT5 it does not; here they go by their names.
func Decays(name string) bool {
	return !strings.Contains(name, "bias") && !strings.Contains(name, "layer_norm") && !strings.Contains(name, "layernorm")
}

// AdamW is an Optimizer whose state is NAME.exp_avg and NAME.exp_avg_sq, as torch names them.
type AdamW struct {
	*state
	options AdamWOptions
	means   []means
}

// means are the places of a parameter's running means of gradients and of their squares.
type means struct{ first, second int }

// NewAdamW is an optimizer at step 0.
func NewAdamW(params []checkpoint.Named, o AdamWOptions) (*AdamW, error) {
	if !(o.Beta1 >= 0 && o.Beta1 < 1) || !(o.Beta2 >= 0 && o.Beta2 < 1) || !(o.Eps > 0) || !(o.WeightDecay >= 0) {
		return nil, fmt.Errorf("adamw: options %+v", o)
	}
	a := &AdamW{options: o}
	var err error
	a.state, err = begin(params, func(s *state, p checkpoint.Named) {
		shape := p.Tensor.Shape()
		a.means = append(a.means, means{s.zeros(p, ".exp_avg", shape...), s.zeros(p, ".exp_avg_sq", shape...)})
	})
	return a, err
}

// decaying are the options for parameters that decay, or do not.
func (a *AdamW) decaying(decays bool) AdamWOptions {
	o := a.options
	if !decays {
		o.WeightDecay = 0
	}
	return o
}

func (a *AdamW) Step(grads []*tensor.Tensor, rate float64) {
	a.fits("AdamW", grads)
	step := a.next()
	for i, p := range a.params {
		a.scope.AdamWInPlace(p.Tensor, grads[i], a.at(a.means[i].first), a.at(a.means[i].second), a.decaying(Decays(p.Name)), rate, step)
	}
}

// StepOn implements Optimizer. float32 gradients are divided in place; for the others it takes 4 bytes for each of up
// to 2²⁷ elements, or of the largest parameter's.
func (a *AdamW) StepOn(grads []*tensor.Tensor, rate *tensor.Tensor, scaler *amp.Scaler) {
	a.fits("AdamW", grads)
	if len(a.params) == 0 {
		return
	}
	steps, found, divisor := a.nextOn(scaler)
	for _, decays := range []bool{false, true} {
		var p, g, first, second []*tensor.Tensor
		for i, of := range a.params {
			if Decays(of.Name) != decays || of.Tensor.Numel() == 0 {
				continue
			}
			p, g = append(p, of.Tensor), append(g, grads[i])
			first, second = append(first, a.at(a.means[i].first)), append(second, a.at(a.means[i].second))
		}
		if len(p) > 0 {
			a.scope.AdamWAllInPlace(p, g, first, second, steps, rate, found, divisor, a.decaying(decays))
		}
	}
}
