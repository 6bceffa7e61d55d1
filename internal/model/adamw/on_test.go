package adamw

import (
	"bytes"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// same compares parameters and state within 1e-5 of the largest value of each.
func same(t *testing.T, what string, a, b *Optimizer) {
	t.Helper()
	alike := func(got, want *tensor.Tensor, name string, within float64) {
		t.Helper()
		tensortest.Near(t, what+": "+name, got, want, within)
	}
	for i, p := range a.params {
		alike(p.Tensor, b.params[i].Tensor, p.Name, 1e-5)
		alike(a.At(a.means[i].first), b.At(b.means[i].first), p.Name+".exp_avg", 1e-5)
		alike(a.At(a.means[i].second), b.At(b.means[i].second), p.Name+".exp_avg_sq", 1e-5)
	}
}

// rateOf is a learning rate as a card has it.
func rateOf(s *tensor.Scope, rate float64) *tensor.Tensor {
	return s.Full(rate, tensor.F32, tensor.CPU, 1)
}

func TestStepOnIsStep(t *testing.T) {
	for _, o := range []Options{options, {Beta1: 0, Beta2: 0.999, Eps: 1e-8}} {
		tensortest.Run(t, func(s *tensor.Scope) {
			make := func() *Optimizer {
				a := errtest.Value(New(named(draw(s, 1, 1)), o))(t)
				t.Cleanup(a.Close)
				return a
			}
			a, b, on := make(), make(), rateOf(s, 0)
			for step := range uint64(20) {
				rate := 0.01 * float64(1+step%3)
				s.FillInPlace(on, rate)
				a.StepOn(draw(s, 10+step, 0.3), on, nil)
				b.Step(draw(s, 10+step, 0.3), rate)
			}
			same(t, "after 20 steps", a, b)
			if a.Steps() != 20 {
				t.Errorf("%d steps", a.Steps())
			}
		})
	}
}

// TestOnAndOff: Step and StepOn one after another, with the state written and read between them.
func TestOnAndOff(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		whole, parts := start(t, named(draw(s, 1, 1))), named(draw(s, 1, 1))
		a := start(t, parts)
		for step := range uint64(12) {
			whole.Step(draw(s, 10+step, 0.3), 0.01)
			if step/2%2 == 0 {
				a.StepOn(draw(s, 10+step, 0.3), rateOf(s, 0.01), nil)
			} else {
				a.Step(draw(s, 10+step, 0.3), 0.01)
			}
			if step%3 != 2 {
				continue
			}
			var file bytes.Buffer
			errtest.None(t, a.Write(&file))
			if step > 6 {
				a = start(t, parts)
			}
			if err := a.Read(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || a.Steps() != int64(step)+1 {
				t.Fatalf("read at step %d: %v", a.Steps(), err)
			}
		}
		same(t, "in turns", a, whole)
	})
}

func TestMistakesOn(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		a := start(t, []checkpoint.Named{{Name: "p", Tensor: s.Zeros(tensor.F32, tensor.CPU, 2, 3)}})
		for want, grads := range map[string][]*tensor.Tensor{
			"0 gradients for 1":               nil,
			"gradient 0 has shape [3], its p": {s.Zeros(tensor.F32, tensor.CPU, 3)},
		} {
			errtest.Says(t, tensor.Try(func() { a.StepOn(grads, rateOf(s, 1), nil) }), want)
		}
		for want, rate := range map[string]*tensor.Tensor{
			"operand is nil": nil,
			"the rate is CPUHalfType[1] on cpu; it must be Float[1] on cpu": s.Zeros(tensor.F16, tensor.CPU, 1),
			"the rate is CPUFloatType[2]":                                   s.Zeros(tensor.F32, tensor.CPU, 2),
		} {
			grads := []*tensor.Tensor{s.Zeros(tensor.F32, tensor.CPU, 2, 3)}
			errtest.Says(t, tensor.Try(func() { a.StepOn(grads, rate, nil) }), want)
		}
		start(t, nil).StepOn(nil, nil, nil)
	})
}
