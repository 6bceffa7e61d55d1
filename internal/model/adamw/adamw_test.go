package adamw

import (
	"bytes"
	"math"
	"testing"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
)

var options = Options{Beta1: 0.9, Beta2: 0.99, Eps: 1e-6, WeightDecay: 0.1}

// draw makes parameters, or their gradients, of several shapes.
func draw(s *tensor.Scope, seed uint64, scale float64) []*tensor.Tensor {
	rng := &tensor.RNG{Seed: seed}
	return []*tensor.Tensor{s.Normal(rng, 0, scale, 12, 7), s.Normal(rng, 0, scale, 300, 70), s.Normal(rng, 0, scale, 9), s.Normal(rng, 0, scale, 2, 3, 4)}
}

func named(tensors []*tensor.Tensor) (params []checkpoint.Named) {
	for i, t := range tensors {
		params = append(params, checkpoint.Named{Name: []string{"matrix.weight", "large.weight", "norm.bias", "cube.weight"}[i], Tensor: t})
	}
	return params
}

func start(t *testing.T, params []checkpoint.Named) *Optimizer {
	t.Helper()
	a := errtest.Value(New(params, options))(t)
	t.Cleanup(a.Close)
	return a
}

// TestFormula compares with the update written out in float64. What torch makes of it stands
// beside internal/model/train's goldens.
func TestFormula(t *testing.T) {
	for name, step := range map[string]func(*Optimizer, []*tensor.Tensor){
		"Step": func(a *Optimizer, grads []*tensor.Tensor) { a.Step(grads, 0.01) },
		"StepOn": func(a *Optimizer, grads []*tensor.Tensor) {
			tensor.Within(func(s *tensor.Scope) { a.StepOn(grads, rateOf(s, 0.01), nil) })
		},
	} {
		t.Run(name, func(t *testing.T) { formula(t, step) })
	}
}

func formula(t *testing.T, update func(*Optimizer, []*tensor.Tensor)) {
	tensortest.Run(t, func(s *tensor.Scope) {
		params := named(draw(s, 1, 1))
		a := start(t, params)
		type value struct{ p, m, v float64 }
		all := make([][]value, len(params))
		for i, p := range params {
			for _, v := range p.Tensor.Float32s() {
				all[i] = append(all[i], value{p: float64(v)})
			}
		}
		for step := 1; step <= 5; step++ {
			grads := draw(s, uint64(10+step), 0.3)
			update(a, grads)
			for i := range params {
				decay := 1 - 0.01*options.WeightDecay
				if i == 2 { // a bias
					decay = 1
				}
				for j, g := range grads[i].Float32s() {
					w, g := &all[i][j], float64(g)
					w.m = 0.9*w.m + 0.1*g
					w.v = 0.99*w.v + 0.01*g*g
					m, v := w.m/(1-math.Pow(0.9, float64(step))), w.v/(1-math.Pow(0.99, float64(step)))
					w.p = w.p*decay - 0.01*m/(math.Sqrt(v)+1e-6)
				}
			}
		}
		for i, p := range params {
			for j, v := range p.Tensor.Float32s() {
				if d := math.Abs(float64(v) - all[i][j].p); !(d < 1e-6) {
					t.Fatalf("%s[%d] = %v, want %v", p.Name, j, v, all[i][j].p)
				}
			}
		}
	})
}

// TestThreads: any number of threads leaves the same bytes.
func TestThreads(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		one, three := named(draw(s, 1, 1)), named(draw(s, 1, 1))
		a, b := start(t, one), start(t, three)
		defer tensor.SetNumThreads(tensor.NumThreads())
		for step := range 3 {
			grads := draw(s, uint64(10+step), 0.3)
			tensor.SetNumThreads(1)
			a.Step(grads, 0.01)
			tensor.SetNumThreads(3)
			b.Step(grads, 0.01)
		}
		for i := range one {
			if !bytes.Equal(one[i].Tensor.Bytes(), three[i].Tensor.Bytes()) {
				t.Errorf("%s differs between one and three threads", one[i].Name)
			}
		}
	})
}

// TestWeights: new gradients weigh 1-Beta1 and 1-Beta2 rounded once, not what is left of a rounded Beta2.
func TestWeights(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		a, err := New(named([]*tensor.Tensor{s.Zeros(tensor.F32, tensor.CPU, 1, 3)})[:1], Options{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8})
		errtest.None(t, err)
		defer a.Close()
		a.Step([]*tensor.Tensor{s.Full(1, tensor.F32, tensor.CPU, 1, 3)}, 0.01)
		if m, v := a.At(a.means[0].first).Float32s()[0], a.At(a.means[0].second).Float32s()[0]; m != 0.1 || v != 0.001 {
			t.Errorf("%.9g and %.9g", m, v)
		}
	})
}

// TestResumeIsExact: 5 steps, saved, read by a new optimizer, 5 more, are 10 steps, bit for bit.
func TestResumeIsExact(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		steps := func(a *Optimizer, from, to uint64) {
			for step := from; step <= to; step++ {
				a.Step(draw(s, 10+step, 0.3), 0.01)
			}
		}
		whole, parts := named(draw(s, 1, 1)), named(draw(s, 1, 1))
		steps(start(t, whole), 1, 10)
		first := start(t, parts)
		steps(first, 1, 5)
		var file bytes.Buffer
		errtest.None(t, first.Write(&file))
		second := start(t, parts)
		if err := second.Read(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || second.Steps() != 5 {
			t.Fatalf("read at step %d: %v", second.Steps(), err)
		}
		steps(second, 6, 10)
		for i := range whole {
			if !bytes.Equal(whole[i].Tensor.Bytes(), parts[i].Tensor.Bytes()) {
				t.Errorf("%s differs", whole[i].Name)
			}
		}
	})
}

func TestMistakes(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		p := []checkpoint.Named{{Name: "p", Tensor: s.Zeros(tensor.F32, tensor.CPU, 2, 3)}}
		for _, bad := range []Options{{}, {Beta1: 1, Beta2: 0.9, Eps: 1}, {Beta2: -1, Eps: 1}, {Eps: 1, WeightDecay: math.NaN()}} {
			if _, err := New(p, bad); err == nil {
				t.Errorf("%+v was accepted", bad)
			}
		}
		a := start(t, p)
		for want, grads := range map[string][]*tensor.Tensor{
			"0 gradients for 1":          nil,
			"the gradient has shape [3]": {s.Zeros(tensor.F32, tensor.CPU, 3)},
		} {
			errtest.Says(t, tensor.Try(func() { a.Step(grads, 1) }), want)
		}
		read := func(step, name string, shape ...int64) error {
			var b bytes.Buffer
			zeros := s.Zeros(tensor.F32, tensor.CPU, shape...)
			errtest.None(t, safetensors.Write(&b, map[string]string{"step": step}, []safetensors.Source{{Name: name, DType: "F32", Shape: shape, Write: zeros.Write}}))
			return a.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
		}
		for want, err := range map[string]error{
			"steps":            read("x", "p.exp_avg", 2, 3),
			"no tensor":        read("3", "q.exp_avg", 2, 3),
			"has shape [3]":    read("3", "p.exp_avg", 3),
			"p.exp_avg_sq":     read("3", "p.exp_avg", 2, 3),
			"no header length": a.Read(bytes.NewReader(nil), 0),
		} {
			errtest.Says(t, err, want)
		}
	})
}
