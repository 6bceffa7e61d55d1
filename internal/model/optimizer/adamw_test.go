package optimizer

import (
	"math"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestFormula compares with the update written out in float64. What torch makes of it stands
// beside internal/model/train's goldens.
func TestFormula(t *testing.T) {
	for name, update := range map[string]func(Optimizer, []*tensor.Tensor){
		"Step": func(a Optimizer, grads []*tensor.Tensor) { a.Step(grads, 0.01) },
		"StepOn": func(a Optimizer, grads []*tensor.Tensor) {
			tensor.Within(func(s *tensor.Scope) { a.StepOn(grads, rateOf(s, 0.01), nil) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			tensortest.Run(t, func(s *tensor.Scope) {
				params := adamW.params(s)
				a := adamW.start(t, params)
				type value struct{ p, m, v float64 }
				all := make([][]value, len(params))
				for i, p := range params {
					for _, v := range p.Tensor.Float32s() {
						all[i] = append(all[i], value{p: float64(v)})
					}
				}
				for step := 1; step <= 5; step++ {
					grads := adamW.grads(s, step)
					values := make([][]float32, len(grads))
					for i, g := range grads {
						values[i] = g.Float32s() // StepOn may change them
					}
					update(a, grads)
					for i, p := range params {
						decay := 1.0
						if Decays(p.Name) {
							decay -= 0.01 * 0.1
						}
						for j, g := range values[i] {
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
		})
	}
}

// TestThreads: any number of threads leaves the same bytes.
func TestThreads(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		a, b := adamW.start(t, adamW.params(s)), adamW.start(t, adamW.params(s))
		defer tensor.SetNumThreads(tensor.NumThreads())
		for step := range 3 {
			grads := adamW.grads(s, step)
			tensor.SetNumThreads(1)
			a.Step(grads, 0.01)
			tensor.SetNumThreads(3)
			b.Step(grads, 0.01)
		}
		if !equal(contents(a), contents(b)) {
			t.Error("one and three threads leave other bytes")
		}
	})
}

// TestWeights: new gradients weigh 1-Beta1 and 1-Beta2 rounded once, not what is left of a rounded Beta2.
func TestWeights(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		p := []checkpoint.Named{{Name: "p", Tensor: s.Zeros(tensor.F32, tensor.CPU, 1, 3)}}
		a := errtest.Value(NewAdamW(p, AdamWOptions{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}))(t)
		defer a.Close()
		a.Step([]*tensor.Tensor{s.Full(1, tensor.F32, tensor.CPU, 1, 3)}, 0.01)
		if m, v := a.at(a.means[0].first).Float32s()[0], a.at(a.means[0].second).Float32s()[0]; m != 0.1 || v != 0.001 {
			t.Errorf("%.9g and %.9g", m, v)
		}
	})
}
