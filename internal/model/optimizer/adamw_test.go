package optimizer

import (
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

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
		a := testkit.Value(NewAdamW(p, AdamWOptions{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}))(t)
		defer a.Close()
		a.Step([]*tensor.Tensor{s.Full(1, tensor.F32, tensor.CPU, 1, 3)}, 0.01)
		if m, v := a.at(a.means[0].first).Float32s()[0], a.at(a.means[0].second).Float32s()[0]; m != 0.1 || v != 0.001 {
			t.Errorf("%.9g and %.9g", m, v)
		}
	})
}
