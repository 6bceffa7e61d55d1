package tensor

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSlowBF16: where the processor has no instructions for bf16, who has products of it is told what is faster; nobody else is.
func TestSlowBF16(t *testing.T) {
	defer func(was, amx bool) { cpu.X86.HasAVX512BF16, cpu.X86.HasAMXBF16 = was, amx }(cpu.X86.HasAVX512BF16, cpu.X86.HasAMXBF16)
	for _, has := range []struct{ avx512, amx, slow bool }{{false, false, true}, {true, false, false}, {false, true, false}} {
		cpu.X86.HasAVX512BF16, cpu.X86.HasAMXBF16 = has.avx512, has.amx
		if said := SlowBF16(BF16, CPU); strings.Contains(said, `precision = "fp32"`) != has.slow || (said != "") != has.slow {
			t.Errorf("%+v: %q", has, said)
		}
		testkit.Is(t, SlowBF16(F32, CPU)+SlowBF16(BF16, CUDA(0)), "", has)
	}
}

// TestBF16 has what is computed of BF16 on a CPU in one pass each beside the same of F32: values, gradients, and the very
// elements that dropout leaves out. Sizes fill no block.
func TestBF16(t *testing.T) {
	const rows, width, rate = 37, 203, 0.25
	rng := func() *RNG { return &RNG{Seed: 6} }
	for name, f := range map[string]func(s *Scope, wide, x, w *Tensor) *Tensor{
		"dropout":          func(s *Scope, _, x, _ *Tensor) *Tensor { return s.Dropout(x, rate, rng()) },
		"residual":         func(s *Scope, wide, x, _ *Tensor) *Tensor { return s.AddDropout(wide, x, rate, rng()) },
		"sum":              func(s *Scope, wide, x, _ *Tensor) *Tensor { return s.AddDropout(wide, x, 0, nil) },
		"relu":             func(s *Scope, _, x, _ *Tensor) *Tensor { return s.ReluDropout(x, 0, nil) },
		"relu and dropout": func(s *Scope, _, x, _ *Tensor) *Tensor { return s.ReluDropout(x, rate, rng()) },
		"norm": func(s *Scope, wide, x, w *Tensor) *Tensor {
			if x.DType() == BF16 {
				return s.RMSNormBF16(wide, w, 1e-6)
			}
			return s.RMSNorm(wide, w, 1e-6)
		},
		"norm of weights 0": func(s *Scope, wide, x, w *Tensor) *Tensor { // which do not tell what they were multiplied with
			if w = s.Dropout(w, rate, rng()); x.DType() == BF16 {
				return s.RMSNormBF16(wide, w, 1e-6)
			}
			return s.RMSNorm(wide, w, 1e-6)
		},
		"attention": func(s *Scope, _, x, _ *Tensor) *Tensor {
			at, n := []int64{0, 5}, []int64{5, rows - 5}
			parts := s.Split(s.Narrow(x, 1, 0, 192), 1, 64, 64, 64)
			return s.PackedAttention(parts[0], parts[1], parts[2], nil, Spans{QStart: at, QLen: n, KStart: at, KLen: n},
				AttentionOptions{Heads: 4, Scale: 0.2, Causal: true, Dropout: rate, RNG: rng()})
		},
	} {
		run(t, func(s *Scope) {
			compute := func(as DType) (all []*Tensor) {
				wide, x, w := s.Normal(rng(), 0, 1, rows, width), s.Normal(&RNG{Seed: 1}, 0, 1, rows, width), s.Normal(rng(), 1, 0.1, width)
				x = s.ToDType(s.ToDType(x, BF16), as)
				leaves := []*Tensor{wide, x, w}
				for _, leaf := range leaves {
					s.Leaf(leaf)
				}
				y := f(s, wide, x, w)
				g := s.ToDType(s.ToDType(s.Normal(&RNG{Seed: 2}, 0, 1, y.Shape()...), BF16), F32)
				for i, d := range s.Gradients(s.Sum(s.Mul(s.ToDType(y, F32), g)), leaves) {
					if d != nil && d.DType() != leaves[i].DType() {
						t.Errorf("%s: a gradient %s of %s", name, d, leaves[i])
					}
					if d != nil {
						all = append(all, d)
					}
				}
				return append(all, y)
			}
			want := compute(F32)
			for i, got := range compute(BF16) {
				relative(t, s, fmt.Sprintf("%s: %d", name, i), got, want[i], 1e-2)
				if name == "dropout" || name == "relu and dropout" {
					for k, v := range got.Float32s() {
						if (v == 0) != (want[i].Float32s()[k] == 0) {
							t.Fatalf("%s: %d: element %d is %g, and %g in F32", name, i, k, v, want[i].Float32s()[k])
						}
					}
				}
			}
		})
	}
}

// TestBF16Rounding: what is written as BF16 is what libtorch rounds to, of numbers halfway between two and beyond all, too.
func TestBF16Rounding(t *testing.T) {
	inf := float32(math.Inf(1))
	values := []float32{0, 1, -1, inf, -inf, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-40, 3.14159265}
	for _, u := range []uint32{0x3f808000, 0x3f818000, 0x3f808001, 0x7f7f8000, 0x7f7f7fff, 0x80000001, 0x00008000} {
		values = append(values, math.Float32frombits(u))
	}
	run(t, func(s *Scope) {
		n := int64(len(values))
		x := s.FromFloat32s(values, CPU, n)
		got := s.ReluDropout(s.ToDType(x, BF16), 0, nil).Bytes()
		if want := s.ToDType(s.Relu(x), BF16).Bytes(); !bytes.Equal(got, want) {
			t.Errorf("relu has the bytes %x, libtorch's are %x", got, want)
		}
		for _, nan := range []uint32{0x7fc00000, 0x7fffffff, 0xffffffff, 0x7f800001} {
			y := s.AddDropout(s.Zeros(F32, CPU, 1), s.ToDType(s.FromFloat32s([]float32{math.Float32frombits(nan)}, CPU, 1), BF16), 0, nil)
			if v := y.Item(); !math.IsNaN(v) {
				t.Errorf("%x became %g", nan, v)
			}
		}
		norm := s.RMSNormBF16(s.FromFloat32s(values, CPU, 1, n), s.Full(1, F32, CPU, n), 1e-6)
		for i, v := range norm.Float32s() { // of infinite numbers
			if !math.IsNaN(float64(v)) && v != 0 {
				t.Errorf("number %d is %g", i, v)
			}
		}
	})
}

// TestPacked: products by a packed matrix, with what follows them, equal products of float32 of the same rounded operands, for
// every activation, and have the same bytes for any number of threads.
func TestPacked(t *testing.T) {
	defer SetNumThreads(NumThreads())
	for _, shape := range [][3]int64{{1, 7, 3}, {37, 128, 96}, {700, 256, 768}} {
		for _, name := range []string{"", "residual", "relu", "gelu", "gelu_new", "gelu_pytorch_tanh", "silu", "swish"} {
			var before []byte
			for _, threads := range []int{1, 2, 3} {
				SetNumThreads(threads)
				run(t, func(s *Scope) {
					draw := func(seed uint64, shape ...int64) *Tensor {
						return s.ToDType(s.Normal(&RNG{Seed: seed}, 0, 0.3, shape...), BF16)
					}
					x, w, b, more := draw(1, shape[0], shape[1]), draw(2, shape[2], shape[1]), draw(3, shape[2]), draw(4, shape[0], shape[2])
					wide := func(t *Tensor) *Tensor { return s.ToDType(t, F32) }
					want := s.LinearBias(wide(x), wide(w), wide(b))
					residual, activation := (*Tensor)(nil), name
					if name == "residual" {
						residual, activation = more, ""
						want = s.Add(want, wide(more))
					} else if f := ActivationOf(name); f != nil {
						want = f(s, want)
					}
					for _, m := range []*Tensor{w, s.PackBF16(wide(w))} {
						got := s.LinearPackedBF16(x, m, b, residual, activation)
						relative(t, s, fmt.Sprintf("%v %q", shape, name), wide(got), want, 1e-2)
						if bytesOf := got.Bytes(); m != w {
							if before != nil && SameForAnyThreads() && !bytes.Equal(before, bytesOf) {
								t.Errorf("%v %q: other bytes on %d threads", shape, name, threads)
							}
							before = bytesOf
						}
					}
				})
			}
		}
	}
}

// TestBF16Products: products of BF16, and their gradients, have the same bytes for any number of threads, where that is
// promised: also with few rows and with long sums.
func TestBF16Products(t *testing.T) {
	if !SameForAnyThreads() {
		t.Skip("not promised on this processor")
	}
	defer SetNumThreads(NumThreads())
	for _, shape := range [][3]int64{{1, 7, 3}, {37, 1024, 256}, {8, 64, 3000}, {700, 256, 768}, {129, 4096, 40}, {3, 9000, 17}} {
		var want []byte
		for _, threads := range []int{1, 2, 3, 7} {
			SetNumThreads(threads)
			run(t, func(s *Scope) {
				x, w := s.ToDType(s.Normal(&RNG{Seed: 1}, 0, 1, shape[0], shape[1]), BF16), s.ToDType(s.Normal(&RNG{Seed: 2}, 0, 1, shape[2], shape[1]), BF16)
				s.Leaf(x)
				s.Leaf(w)
				y := s.Linear(x, w)
				got := y.Bytes()
				for _, g := range s.Gradients(s.Sum(s.Mul(y, s.Detach(y))), []*Tensor{x, w}) {
					got = append(got, g.Bytes()...)
				}
				if want == nil {
					want = got
				} else if !bytes.Equal(got, want) {
					t.Errorf("%v: other bytes on %d threads than on one", shape, threads)
				}
			})
		}
	}
}
