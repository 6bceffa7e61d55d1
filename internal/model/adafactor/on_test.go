package adafactor

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// many are parameters of several classes: some alone, some of three dimensions, one a number, one
// without elements.
var many = [][]int64{{12, 7}, {40, 3}, {12, 7}, {9}, {6, 4}, {9}, {5, 1}, {12, 7}, {}, {4, 6}, {6, 4}, {0, 3}, {1}, {9}, {6, 4}, {24, 1}}

func draw(s *tensor.Scope, seed uint64, mean, deviation float64) (all []*tensor.Tensor) {
	rng := &tensor.RNG{Seed: seed}
	for _, shape := range many {
		all = append(all, s.Normal(rng, mean, deviation, shape...))
	}
	return all
}

func named(tensors []*tensor.Tensor) (params []checkpoint.Named) {
	for i, t := range tensors {
		params = append(params, checkpoint.Named{Name: fmt.Sprint("p", i), Tensor: t})
	}
	return params
}

func start(t *testing.T, params []checkpoint.Named, o Options) *Optimizer {
	t.Helper()
	a := errtest.Value(New(params, o))(t)
	t.Cleanup(a.Close)
	return a
}

// rateOf is a learning rate as a card has it.
func rateOf(s *tensor.Scope, rate float64) *tensor.Tensor {
	return s.Full(rate, tensor.F32, tensor.CPU, 1)
}

func same(t *testing.T, what string, a, b *Optimizer) {
	t.Helper()
	for i, p := range a.params {
		tensortest.Near(t, fmt.Sprintf("%s: %s %v", what, p.Name, p.Tensor.Shape()), p.Tensor, b.params[i].Tensor, 1e-5)
		for _, place := range []int{a.moments[i].row, a.moments[i].col, a.moments[i].full} {
			if place >= 0 {
				tensortest.Near(t, fmt.Sprintf("%s: moment %d of %s", what, place, p.Name), a.At(place), b.At(place), 1e-5)
			}
		}
	}
}

func TestStepOnIsStep(t *testing.T) {
	live := tensor.Live()
	options := map[string]Options{}
	for _, scale := range []bool{false, true} {
		for _, decay := range []float64{0, 0.1} {
			for _, clip := range []float64{1, 0.1} {
				o := Defaults()
				o.ScaleParameter, o.WeightDecay, o.ClipThreshold = scale, decay, clip
				options[fmt.Sprintf("scale %v decay %v clip %v", scale, decay, clip)] = o
			}
		}
	}
	for name, o := range options {
		t.Run(name, func(t *testing.T) {
			tensortest.Run(t, func(s *tensor.Scope) {
				a, b, on := start(t, named(draw(s, 1, 0, 1)), o), start(t, named(draw(s, 1, 0, 1)), o), rateOf(s, 0)
				for step := range uint64(20) {
					rate := 0.01 * float64(1+step%3)
					s.FillInPlace(on, rate)
					a.StepOn(draw(s, 10+step, 0.1, 0.3), on, nil)
					b.Step(draw(s, 10+step, 0.1, 0.3), rate)
				}
				same(t, "after 20 steps", a, b)
				if a.Steps() != 20 {
					t.Errorf("%d steps", a.Steps())
				}
			})
		})
	}
	t.Cleanup(func() {
		if tensor.Live() != live {
			t.Errorf("%d tensors leaked", tensor.Live()-live)
		}
	})
}

// TestDecayAlone: without gradients only weight decay is left, which is Step's to the last digits.
func TestDecayAlone(t *testing.T) {
	for _, scale := range []bool{false, true} {
		o := Defaults()
		o.ScaleParameter, o.WeightDecay = scale, 0.3
		tensortest.Run(t, func(s *tensor.Scope) {
			a, b, none := start(t, named(draw(s, 1, 0, 1)), o), start(t, named(draw(s, 1, 0, 1)), o), draw(s, 2, 0, 0)
			for range 3 {
				a.StepOn(none, rateOf(s, 0.2), nil)
				b.Step(none, 0.2)
			}
			for i, p := range a.params {
				tensortest.Near(t, fmt.Sprintf("scale %v: %s %v", scale, p.Name, p.Tensor.Shape()), p.Tensor, b.params[i].Tensor, 4e-7)
			}
		})
	}
}

func TestTwentyStepsOnAreTransformers(t *testing.T) {
	for _, scaled := range []bool{false, true} {
		tensortest.Run(t, func(s *tensor.Scope) {
			g := open(t, scaled)
			options := Defaults()
			options.ScaleParameter = scaled
			params := g.start(s)
			a := start(t, params, options)
			for step := 1; step <= 20; step++ {
				a.StepOn(g.grads(s, step), rateOf(s, 1e-2), nil)
				if step > 3 && step < 20 {
					continue
				}
				for _, p := range params {
					g.near(fmt.Sprintf("after.%d.%s", step, p.Name), p.Tensor, shapes[p.Name]...)
				}
			}
		})
	}
}

// params are the bytes of all that an optimizer changes.
func params(a *Optimizer) (all [][]byte) {
	for i, p := range a.params {
		all = append(all, p.Tensor.Bytes())
		for _, place := range []int{a.moments[i].row, a.moments[i].col, a.moments[i].full} {
			if place >= 0 {
				all = append(all, a.At(place).Bytes())
			}
		}
	}
	return all
}

// TestOnAndOff: Step and StepOn one after another, with the state written and read between them.
func TestOnAndOff(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		whole := start(t, named(draw(s, 1, 0, 1)), Defaults())
		parts := named(draw(s, 1, 0, 1))
		a := start(t, parts, Defaults())
		for step := range uint64(12) {
			whole.Step(draw(s, 10+step, 0.1, 0.3), 0.01)
			if step/2%2 == 0 {
				a.StepOn(draw(s, 10+step, 0.1, 0.3), rateOf(s, 0.01), nil)
			} else {
				a.Step(draw(s, 10+step, 0.1, 0.3), 0.01)
			}
			if step%3 != 2 {
				continue
			}
			var file bytes.Buffer
			errtest.None(t, a.Write(&file))
			state := params(a)
			if step > 6 {
				a = start(t, parts, Defaults())
			}
			if err := a.Read(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || a.Steps() != int64(step)+1 {
				t.Fatalf("read at step %d: %v", a.Steps(), err)
			}
			if !slices.EqualFunc(state, params(a), bytes.Equal) {
				t.Fatal("another state was read than written")
			}
		}
		same(t, "in turns", a, whole)
	})
}

func TestMistakesOn(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		a := start(t, []checkpoint.Named{{Name: "p", Tensor: s.Zeros(tensor.F32, tensor.CPU, 2, 3)}}, Defaults())
		for want, grads := range map[string][]*tensor.Tensor{
			"0 gradients for 1":          nil,
			"the gradient has shape [3]": {s.Zeros(tensor.F32, tensor.CPU, 3)},
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
		none := start(t, nil, Defaults())
		none.StepOn(nil, nil, nil)
	})
}
