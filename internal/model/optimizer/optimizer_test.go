package optimizer

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// many are shapes of several classes: some that one parameter has, some that three have, one of a number, one without
// elements.
var many = [][]int64{{12, 7}, {40, 3}, {12, 7}, {9}, {6, 4}, {9}, {5, 1}, {12, 7}, {}, {4, 6}, {6, 4}, {0, 3}, {1}, {9}, {6, 4}, {24, 1}}

// maker makes optimizers of some options, of parameters of shapes that they know.
type maker struct {
	shapes [][]int64
	of     func(params []checkpoint.Named) (Optimizer, error)
}

func adafactorBy(o AdafactorOptions) maker {
	return maker{many, func(p []checkpoint.Named) (Optimizer, error) { return NewAdafactor(p, o) }}
}

func adamWBy(o AdamWOptions) maker {
	return maker{slices.Concat(many, [][]int64{{2, 3, 4}, {300, 70}}), func(p []checkpoint.Named) (Optimizer, error) { return NewAdamW(p, o) }}
}

var (
	adafactor = adafactorBy(AdafactorOptions{ScaleParameter: true, Eps1: 1e-30, Eps2: 1e-3, ClipThreshold: 1, DecayRate: -0.8, WeightDecay: 0.01})
	adamW     = adamWBy(AdamWOptions{Beta1: 0.9, Beta2: 0.99, Eps: 1e-6, WeightDecay: 0.1})
)

// both calls f of each optimizer.
func both(t *testing.T, f func(t *testing.T, m maker, s *tensor.Scope)) {
	for name, m := range map[string]maker{"adafactor": adafactor, "adamw": adamW} {
		t.Run(name, func(t *testing.T) { tensortest.Run(t, func(s *tensor.Scope) { f(t, m, s) }) })
	}
}

func (m maker) draw(s *tensor.Scope, seed uint64, mean, deviation float64) (all []*tensor.Tensor) {
	rng := &tensor.RNG{Seed: seed}
	for _, shape := range m.shapes {
		all = append(all, s.Normal(rng, mean, deviation, shape...))
	}
	return all
}

// params draws parameters, every second of which does not decay by AdamW.
func (m maker) params(s *tensor.Scope) (params []checkpoint.Named) {
	for i, t := range m.draw(s, 1, 0, 1) {
		params = append(params, checkpoint.Named{Name: fmt.Sprint("p", i, []string{".weight", ".bias"}[i%2]), Tensor: t})
	}
	return params
}

// grads are the gradients of a step.
func (m maker) grads(s *tensor.Scope, step int) []*tensor.Tensor {
	return m.draw(s, uint64(10+step), 0.1, 0.3)
}

// start has an optimizer of parameters until the test ends.
func (m maker) start(t *testing.T, params []checkpoint.Named) Optimizer {
	t.Helper()
	o := testkit.Value(m.of(params))(t)
	t.Cleanup(o.Close)
	return o
}

// contents are the parameters and the state.
func contents(o Optimizer) []checkpoint.Named {
	var s *state
	switch o := o.(type) {
	case *Adafactor:
		s = o.state
	case *AdamW:
		s = o.state
	}
	return slices.Concat(s.params, s.tensors)
}

// same compares parameters and state within a part of the largest value of each.
func same(t *testing.T, what string, a, b Optimizer, within float64) {
	t.Helper()
	want := contents(b)
	for i, p := range contents(a) {
		tensortest.Near(t, fmt.Sprintf("%s: %s %v", what, p.Name, p.Tensor.Shape()), p.Tensor, want[i].Tensor, within)
	}
}

// equal compares them bit by bit.
func equal(a, b []checkpoint.Named) bool {
	return slices.EqualFunc(a, b, func(x, y checkpoint.Named) bool { return bytes.Equal(x.Tensor.Bytes(), y.Tensor.Bytes()) })
}

// rateOf is a learning rate as a card has it.
func rateOf(s *tensor.Scope, rate float64) *tensor.Tensor {
	return s.Full(rate, tensor.F32, tensor.CPU, 1)
}

// saved is what an optimizer writes.
func saved(t *testing.T, o Optimizer) *bytes.Reader {
	t.Helper()
	var file bytes.Buffer
	testkit.None(t, o.Write(&file))
	return bytes.NewReader(file.Bytes())
}

func TestStepOnIsStep(t *testing.T) {
	live := tensor.Live()
	makers := map[string]maker{"adamw": adamW, "adamw without a mean": adamWBy(AdamWOptions{Beta1: 0, Beta2: 0.999, Eps: 1e-8})}
	for _, scale := range []bool{false, true} {
		for _, decay := range []float64{0, 0.1} {
			for _, clip := range []float64{1, 0.1} {
				o := AdafactorDefaults()
				o.ScaleParameter, o.WeightDecay, o.ClipThreshold = scale, decay, clip
				makers[fmt.Sprintf("scale %v decay %v clip %v", scale, decay, clip)] = adafactorBy(o)
			}
		}
	}
	for name, m := range makers {
		t.Run(name, func(t *testing.T) {
			tensortest.Run(t, func(s *tensor.Scope) {
				a, b, on := m.start(t, m.params(s)), m.start(t, m.params(s)), rateOf(s, 0)
				for step := range 20 {
					rate := 0.01 * float64(1+step%3)
					s.FillInPlace(on, rate)
					a.StepOn(m.grads(s, step), on, nil)
					b.Step(m.grads(s, step), rate)
				}
				same(t, "after 20 steps", a, b, 1e-5)
				testkit.Is(t, a.Steps(), 20, "steps")
			})
		})
	}
	t.Cleanup(func() {
		testkit.Is(t, tensor.Live(), live, tensor.Live()-live)
	})
}

// TestResumeIsExact: 5 steps, saved, read by a new optimizer, 5 more, are 10 steps, bit for bit.
func TestResumeIsExact(t *testing.T) {
	both(t, func(t *testing.T, m maker, s *tensor.Scope) {
		steps := func(o Optimizer, from, to int) {
			for step := from; step <= to; step++ {
				o.Step(m.grads(s, step), 0.01)
			}
		}
		parts := m.params(s)
		whole, first, second := m.start(t, m.params(s)), m.start(t, parts), m.start(t, parts)
		steps(whole, 1, 10)
		steps(first, 1, 5)
		file := saved(t, first)
		if err := second.Read(file, file.Size()); err != nil || second.Steps() != 5 {
			t.Fatalf("read at step %d: %v", second.Steps(), err)
		}
		steps(second, 6, 10)
		if !equal(contents(second), contents(whole)) {
			t.Error("parameters or state differ")
		}
	})
}

// TestOnAndOff: Step and StepOn one after another, with the state written and read between them.
func TestOnAndOff(t *testing.T) {
	both(t, func(t *testing.T, m maker, s *tensor.Scope) {
		whole, parts := m.start(t, m.params(s)), m.params(s)
		a := m.start(t, parts)
		for step := range 12 {
			whole.Step(m.grads(s, step), 0.01)
			if step/2%2 == 0 {
				a.StepOn(m.grads(s, step), rateOf(s, 0.01), nil)
			} else {
				a.Step(m.grads(s, step), 0.01)
			}
			if step%3 != 2 {
				continue
			}
			file, before := saved(t, a), a
			if step > 6 {
				a = m.start(t, parts)
			}
			want := slices.Clone(contents(before))
			for i, p := range want {
				want[i].Tensor = s.Scale(p.Tensor, 1)
			}
			if err := a.Read(file, file.Size()); err != nil || a.Steps() != int64(step)+1 {
				t.Fatalf("read at step %d: %v", a.Steps(), err)
			}
			if !equal(contents(a), want) {
				t.Fatal("another state was read than written")
			}
		}
		same(t, "in turns", a, whole, 1e-5)
	})
}

func TestMistakes(t *testing.T) {
	testkit.Some(t, testkit.Err(NewAdafactor(nil, AdafactorOptions{})), "empty options were accepted")
	for _, bad := range []AdamWOptions{{}, {Beta1: 1, Beta2: 0.9, Eps: 1}, {Beta2: -1, Eps: 1}, {Eps: 1, WeightDecay: math.NaN()}} {
		testkit.Some(t, testkit.Err(NewAdamW(nil, bad)), bad)
	}
	both(t, func(t *testing.T, m maker, s *tensor.Scope) {
		zeros := func(shape ...int64) *tensor.Tensor { return s.Zeros(tensor.F32, tensor.CPU, shape...) }
		o := m.start(t, []checkpoint.Named{{Name: "p", Tensor: zeros(2, 3)}})
		means := contents(o)[1:]
		read := func(step, name string, shape ...int64) error {
			var b bytes.Buffer
			testkit.None(t, safetensors.Write(&b, map[string]string{"step": step}, []safetensors.Source{{Name: name, DType: "F32", Shape: shape, Write: zeros(shape...).Write}}))
			return o.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
		}
		step := func(grads ...*tensor.Tensor) error { return tensor.Try(func() { o.Step(grads, 1) }) }
		on := func(rate *tensor.Tensor, grads ...*tensor.Tensor) error {
			return tensor.Try(func() { o.StepOn(grads, rate, nil) })
		}
		first, shape := means[0].Name, means[0].Tensor.Shape()
		for _, c := range []struct {
			err  error
			says string
		}{
			{step(), "0 gradients for 1"},
			{step(zeros(3)), "the gradient has shape [3]"},
			{on(rateOf(s, 1)), "0 gradients for 1"},
			{on(rateOf(s, 1), zeros(3)), " has shape [3]"},
			{on(nil, zeros(2, 3)), "operand is nil"},
			{on(s.Zeros(tensor.F16, tensor.CPU, 1), zeros(2, 3)), "the rate is CPUHalfType[1] on cpu; it must be Float[1] on cpu"},
			{on(zeros(2), zeros(2, 3)), "the rate is CPUFloatType[2]"},
			{read("x", first, shape...), "steps"},
			{read("3", "q."+first, shape...), "no tensor"},
			{read("3", first, 5), "has shape [5]"},
			{read("3", first, shape...), `"` + means[1].Name + `"`},
			{o.Read(bytes.NewReader(nil), 0), "0 bytes are no checkpoint: the file was cut off; write or fetch it anew"},
		} {
			testkit.ErrSays(t, c.err, c.says)
		}
		m.start(t, nil).StepOn(nil, nil, nil)
	})
}
