package tensor

import (
	"bytes"
	"maps"
	"testing"
)

// TestForAnyThreads: what models compute element by element and row by row on a CPU, and its gradients, have the same
// bytes for any number of threads, also where a thread's part fills no vector.
func TestForAnyThreads(t *testing.T) {
	if !SameForAnyThreads() {
		t.Skip("not promised on this processor")
	}
	defer SetNumThreads(NumThreads())
	ops := map[string]Activation{
		"attention of bf16": func(s *Scope, x *Tensor) *Tensor {
			at, n := []int64{0}, []int64{x.Dim(0)}
			x = s.ToDType(x, BF16)
			return s.PackedAttention(x, x, x, nil, Spans{QStart: at, QLen: n, KStart: at, KLen: n}, AttentionOptions{Heads: 1, Scale: 0.1})
		},
		"log_softmax": func(s *Scope, x *Tensor) *Tensor { return s.LogSoftmax(x, -1, F32) },
		"exp":         (*Scope).Exp,
		"mean":        func(s *Scope, x *Tensor) *Tensor { return s.MeanDim(x, 0, true) },
		"relu dropout": func(s *Scope, x *Tensor) *Tensor {
			return s.ReluDropout(x, 0.1, &RNG{Seed: 3})
		},
		"rms norm": func(s *Scope, x *Tensor) *Tensor {
			w := s.Normal(&RNG{Seed: 4}, 1, 0.1, x.Dim(1))
			s.Leaf(w)
			return s.RMSNorm(x, w, 1e-6)
		},
		"layer norm": func(s *Scope, x *Tensor) *Tensor {
			d := x.Dim(1)
			return s.LayerNorm(x, s.Full(1, F32, CPU, d), s.Zeros(F32, CPU, d), 1e-5)
		},
		"to a vector": func(s *Scope, x *Tensor) *Tensor { // its gradient is a sum over rows
			b := s.Normal(&RNG{Seed: 5}, 0, 1, x.Dim(1))
			return s.Mul(x, s.Add(s.Mul(x, b), b))
		},
	}
	maps.Copy(ops, activations)
	for name, f := range ops {
		for _, shape := range [][]int64{{1, 1}, {1, 31}, {300, 72}, {131, 1023}, {3, 40001}} {
			for _, d := range []DType{F32, BF16} {
				if d == BF16 && activations[name] == nil {
					continue
				}
				var want []byte
				for _, threads := range []int{1, 2, 3, 7} {
					SetNumThreads(threads)
					var got []byte
					run(t, func(s *Scope) {
						x := s.ToDType(s.Normal(&RNG{Seed: 1}, 0, 2, shape...), d)
						s.Leaf(x)
						y := f(s, x)
						g := s.ToDType(s.Normal(&RNG{Seed: 2}, 0, 1, y.Shape()...), y.DType())
						got = append(y.Bytes(), s.Gradients(s.Sum(s.Mul(y, g)), []*Tensor{x})[0].Bytes()...)
					})
					if want == nil {
						want = got
					} else if !bytes.Equal(got, want) {
						t.Errorf("%s of %v %v has other bytes on %d threads than on one", name, d, shape, threads)
					}
				}
			}
		}
	}
}
