package adamw

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
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

func state(a *Optimizer) (all [][]byte) {
	for i, p := range a.params {
		all = append(all, p.Tensor.Bytes(), a.At(a.means[i].first).Bytes(), a.At(a.means[i].second).Bytes())
	}
	return all
}

func TestStepOnIsStep(t *testing.T) {
	for _, o := range []Options{options, {Beta1: 0, Beta2: 0.999, Eps: 1e-8}} {
		tensortest.Run(t, func(s *tensor.Scope) {
			make := func() *Optimizer {
				a, err := New(named(draw(s, 1, 1)), o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(a.Close)
				return a
			}
			a, b := make(), make()
			for step := range uint64(20) {
				a.StepOn(draw(s, 10+step, 0.3), rateOf(s, 0.01), nil)
				b.Step(draw(s, 10+step, 0.3), 0.01)
			}
			same(t, "after 20 steps", a, b)
			if a.Steps() != 20 {
				t.Errorf("%d steps", a.Steps())
			}
		})
	}
}

// TestOneRate: the rate is a tensor, whose value changes between updates.
func TestOneRate(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		a, b := start(t, named(draw(s, 1, 1))), start(t, named(draw(s, 1, 1)))
		on := s.Zeros(tensor.F32, tensor.CPU, 1)
		for step, rate := range []float64{0.3, 0.002} {
			s.FillInPlace(on, rate)
			a.StepOn(draw(s, 10+uint64(step), 0.3), on, nil)
			b.Step(draw(s, 10+uint64(step), 0.3), rate)
			same(t, "after a step", a, b)
		}
	})
}

// TestScaledAndSkipped: gradients in float16 of a scaled loss, clipped, with bad ones among them.
func TestScaledAndSkipped(t *testing.T) {
	for _, first := range []uint64{0, 3} {
		tensortest.Run(t, func(s *tensor.Scope) {
			a, b := start(t, named(draw(s, 1, 1))), start(t, named(draw(s, 1, 1)))
			scaler, err := amp.New(tensor.CPU, amp.Options{Scaled: true, ClipNorm: 0.5, Ring: 20})
			if err != nil {
				t.Fatal(err)
			}
			defer scaler.Close()
			scaler.Restore(amp.State{Scale: 64})
			scale := 64.0
			for step := range uint64(20) {
				left := step%5 == first
				var grads, wide []*tensor.Tensor
				square := 0.0
				for i, g := range draw(s, 10+step, 0.3) {
					dtype := tensor.F16
					if i == 2 { // some may be in float32
						dtype = tensor.F32
					}
					g = s.ToDType(s.Scale(g, scale), dtype)
					grads = append(grads, g)
					w := s.Scale(s.ToDType(g, tensor.F32), 1/scale)
					wide, square = append(wide, w), square+s.SquareSum(w)
				}
				if left {
					s.FillInPlace(s.Narrow(grads[3], 0, 1, 1), math.NaN())
				}
				scaler.Check(s.Full(2, tensor.F32, tensor.CPU), grads, s.Full(float64(scaler.Slot()), tensor.I64, tensor.CPU, 1))
				scaler.Checked()
				before := state(a)
				a.StepOn(grads, rateOf(s, 0.01), scaler)
				if left {
					scale /= 2
					if !slices.EqualFunc(before, state(a), bytes.Equal) {
						t.Fatalf("step %d changed something", step)
					}
					continue
				}
				for _, g := range wide {
					s.ScaleInPlace(g, min(1, 0.5/(math.Sqrt(square)+1e-6)))
				}
				b.Step(wide, 0.01)
			}
			same(t, "with bad ones", a, b)
			if a.Steps() != 16 {
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
			if err := a.Write(&file); err != nil {
				t.Fatal(err)
			}
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
			if err := tensor.Try(func() { a.StepOn(grads, rateOf(s, 1), nil) }); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		for want, rate := range map[string]*tensor.Tensor{
			"operand is nil": nil,
			"the rate is CPUHalfType[1] on cpu; it must be Float[1] on cpu": s.Zeros(tensor.F16, tensor.CPU, 1),
			"the rate is CPUFloatType[2]":                                   s.Zeros(tensor.F32, tensor.CPU, 2),
		} {
			grads := []*tensor.Tensor{s.Zeros(tensor.F32, tensor.CPU, 2, 3)}
			if err := tensor.Try(func() { a.StepOn(grads, rate, nil) }); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		start(t, nil).StepOn(nil, nil, nil)
	})
}
