//go:build linux

package cardtest

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/testkit"
)

// operation is a row of the table: made of inputs of normal numbers, with gradients of all of them.
type operation struct {
	name   string
	shapes [][]int64
	fixed  bool // it has no gradient
	f      func(s *tensor.Scope, dev tensor.Device, in []*tensor.Tensor) *tensor.Tensor
}

type (
	scope = tensor.Scope
	list  = []*tensor.Tensor
)

func one(f func(s *scope, t *tensor.Tensor) *tensor.Tensor) func(*scope, tensor.Device, list) *tensor.Tensor {
	return func(s *scope, _ tensor.Device, in list) *tensor.Tensor { return f(s, in[0]) }
}

func two(f func(s *scope, a, b *tensor.Tensor) *tensor.Tensor) func(*scope, tensor.Device, list) *tensor.Tensor {
	return func(s *scope, _ tensor.Device, in list) *tensor.Tensor { return f(s, in[0], in[1]) }
}

func shapes(of ...[]int64) [][]int64 { return of }
func size(n ...int64) []int64        { return n }

// packed are sequences of these lengths, one after another.
func packed(q, k []int64) tensor.Spans {
	var spans tensor.Spans
	var i, j int64
	for n := range q {
		spans.QStart, spans.QLen = append(spans.QStart, i), append(spans.QLen, q[n])
		spans.KStart, spans.KLen = append(spans.KStart, j), append(spans.KLen, k[n])
		i, j = i+q[n], j+k[n]
	}
	return spans
}

func attention(causal bool, scale float64, q, k []int64) func(*scope, tensor.Device, list) *tensor.Tensor {
	return func(s *scope, _ tensor.Device, in list) *tensor.Tensor {
		var bias *tensor.Tensor
		if len(in) > 3 {
			bias = in[3]
		}
		return s.PackedAttention(in[0], in[1], in[2], bias, packed(q, k), tensor.AttentionOptions{Heads: 2, Scale: scale, Causal: causal})
	}
}

var operations = []operation{
	{name: "add", shapes: shapes(size(5, 7), size(7)), f: two((*scope).Add)},
	{name: "sub", shapes: shapes(size(5, 7), size(5, 1)), f: two((*scope).Sub)},
	{name: "mul", shapes: shapes(size(5, 7), size(5, 7)), f: two((*scope).Mul)},
	{name: "div", shapes: shapes(size(5, 7), size(5, 7)), f: func(s *scope, _ tensor.Device, in list) *tensor.Tensor {
		return s.Div(in[0], s.Exp(in[1]))
	}},
	{name: "relu", shapes: shapes(size(5, 7)), f: one((*scope).Relu)},
	{name: "silu", shapes: shapes(size(5, 7)), f: one((*scope).Silu)},
	{name: "gelu", shapes: shapes(size(5, 7)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor { return s.Gelu(t, false) })},
	{name: "gelu_tanh", shapes: shapes(size(5, 7)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor { return s.Gelu(t, true) })},
	{name: "exp", shapes: shapes(size(5, 7)), f: one((*scope).Exp)},
	{name: "log_softmax", shapes: shapes(size(5, 7)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor { return s.LogSoftmax(t, -1, tensor.F32) })},
	{name: "sum_dim", shapes: shapes(size(5, 7)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor { return s.SumDim(t, 0, false) })},
	{name: "mean_dim", shapes: shapes(size(5, 7)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor { return s.MeanDim(t, -1, true) })},
	{name: "max_dim", shapes: shapes(size(5, 7)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor { return s.MaxDim(t, -1, false) })},
	{name: "matmul", shapes: shapes(size(9, 33), size(33, 17)), f: two((*scope).MatMul)},
	{name: "matmul_batched", shapes: shapes(size(3, 9, 8), size(3, 8, 17)), f: two((*scope).MatMul)},
	{name: "linear", shapes: shapes(size(9, 33), size(17, 33)), f: two((*scope).Linear)},
	{name: "linear_bias", shapes: shapes(size(9, 33), size(17, 33), size(17)), f: func(s *scope, _ tensor.Device, in list) *tensor.Tensor {
		return s.LinearBias(in[0], in[1], in[2])
	}},
	{name: "rms_norm", shapes: shapes(size(9, 32), size(32)), f: two(func(s *scope, x, w *tensor.Tensor) *tensor.Tensor { return s.RMSNorm(x, w, 1e-6) })},
	{name: "layer_norm", shapes: shapes(size(9, 32), size(32), size(32)), f: func(s *scope, _ tensor.Device, in list) *tensor.Tensor {
		return s.LayerNorm(in[0], in[1], in[2], 1e-6)
	}},
	{name: "add_dropout_none", shapes: shapes(size(9, 32), size(9, 32)), f: two(func(s *scope, r, x *tensor.Tensor) *tensor.Tensor { return s.AddDropout(r, x, 0, nil) })},
	{name: "relu_dropout_none", shapes: shapes(size(9, 32)), f: one(func(s *scope, x *tensor.Tensor) *tensor.Tensor { return s.ReluDropout(x, 0, nil) })},
	{name: "views", shapes: shapes(size(4, 6, 5)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor {
		u := s.Transpose(s.Narrow(t, 1, 1, 4), 0, 1)
		return s.View(s.Contiguous(s.Transpose(s.View(s.Contiguous(u), 4, 20), 0, 1)), 10, 8)
	})},
	{name: "cat", shapes: shapes(size(4, 6), size(3, 6)), f: two(func(s *scope, a, b *tensor.Tensor) *tensor.Tensor { return s.Cat(0, a, b, a) })},
	{name: "index_select", shapes: shapes(size(6, 5)), f: func(s *scope, dev tensor.Device, in list) *tensor.Tensor {
		return s.IndexSelect(in[0], 0, s.FromInt64s([]int64{5, 0, 5, 2}, dev, 4))
	}},
	{name: "gather", shapes: shapes(size(3, 5)), f: func(s *scope, dev tensor.Device, in list) *tensor.Tensor {
		return s.Gather(in[0], 1, s.FromInt64s([]int64{4, 0, 1, 1, 3, 2}, dev, 3, 2))
	}},
	{name: "masked_fill", shapes: shapes(size(5, 7)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor {
		return s.MaskedFill(t, s.Less(t, s.Zeros(tensor.F32, t.Device(), 1)), 0.5)
	})},
	{name: "add_rows", fixed: true, shapes: shapes(size(6, 5), size(4, 5)), f: func(s *scope, dev tensor.Device, in list) *tensor.Tensor {
		to := s.Scale(in[0], 1)
		s.AddRowsInPlace(to, s.FromInt64s([]int64{5, 0, 5, 2}, dev, 4), in[1])
		return to
	}},
	{name: "relative_bias", shapes: shapes(size(32, 2)), f: one(func(s *scope, t *tensor.Tensor) *tensor.Tensor {
		return s.RelativeBias(t, 9, tensor.Buckets{Number: 32, MaxDistance: 128, Both: true})
	})},
	{name: "head_loss", shapes: shapes(size(40, 12), size(61, 12)), f: func(s *scope, dev tensor.Device, in list) *tensor.Tensor {
		labels := make([]int64, 40)
		for i := range labels {
			if labels[i] = int64(i*7) % 61; i%5 == 0 {
				labels[i] = -100
			}
		}
		return s.HeadLoss(in[0], in[1], s.FromInt64s(labels, dev, 40), -100, 0.1, tensor.HeadOptions{})
	}},
	{name: "attention", shapes: shapes(size(17, 16), size(17, 16), size(17, 16), size(2, 10, 10)),
		f: attention(false, 1, []int64{9, 1, 7}, []int64{9, 1, 7})},
	{name: "attention_causal", shapes: shapes(size(17, 16), size(17, 16), size(17, 16), size(2, 10, 10)),
		f: attention(true, 1, []int64{9, 1, 7}, []int64{9, 1, 7})},
	{name: "attention_cross", shapes: shapes(size(8, 16), size(17, 16), size(17, 16)),
		f: attention(false, 0.35, []int64{4, 1, 3}, []int64{9, 1, 7})},
	// Heads that libtorch's memory-efficient kernel does not take.
	{name: "attention_narrow", shapes: shapes(size(8, 12), size(17, 12), size(17, 12), size(2, 10, 10)),
		f: attention(true, 0.35, []int64{4, 1, 3}, []int64{9, 1, 7})},
	// What one product makes is not taken apart.
	{name: "attention_qkv", shapes: shapes(size(17, 48), size(2, 10, 10)), f: func(s *scope, _ tensor.Device, in list) *tensor.Tensor {
		of, spans := s.Split(in[0], 1, 16, 16, 16), packed([]int64{9, 1, 7}, []int64{9, 1, 7})
		return s.PackedAttention(of[0], of[1], of[2], in[1], spans, tensor.AttentionOptions{Heads: 2, Scale: 1, Causal: true})
	}},
	{name: "attention_kv", shapes: shapes(size(8, 16), size(17, 32)), f: func(s *scope, _ tensor.Device, in list) *tensor.Tensor {
		of, spans := s.Split(in[1], 1, 16, 16), packed([]int64{4, 1, 3}, []int64{9, 1, 7})
		return s.PackedAttention(in[0], of[0], of[1], nil, spans, tensor.AttentionOptions{Heads: 2, Scale: 1})
	}},
	// In decoding several sequences of queries look at the same keys.
	{name: "attention_shared", fixed: true, shapes: shapes(size(4, 16), size(9, 16), size(9, 16)), f: func(s *scope, _ tensor.Device, in list) *tensor.Tensor {
		spans := tensor.Spans{QStart: []int64{0, 2, 3}, QLen: []int64{2, 1, 1}, KStart: []int64{0, 0, 5}, KLen: []int64{5, 5, 4}}
		return s.PackedAttention(in[0], in[1], in[2], nil, spans, tensor.AttentionOptions{Heads: 2, Scale: 1})
	}},
}

// tolerances of a type, by the largest value, for the products of a card, which adds up in another order.
var tolerances = []struct {
	dtype             tensor.DType
	forward, backward float64
}{{tensor.F32, 1e-5, 1e-5}, {tensor.BF16, 2e-2, 4e-2}, {tensor.F16, 3e-3, 6e-3}}

// TestOperations: forward and backward on the card against the CPU in float32, of numbers that the type can hold.
func TestOperations(t *testing.T) {
	for _, o := range operations {
		for _, as := range tolerances {
			name := o.name + "/" + as.dtype.String()
			t.Run(name, func(t *testing.T) {
				run(t, func(s *tensor.Scope) {
					rng := &tensor.RNG{Seed: 11}
					var inputs list
					for _, shape := range o.shapes {
						inputs = append(inputs, s.ToDType(s.ToDType(s.Normal(rng, 0, 1, shape...), as.dtype), tensor.F32))
					}
					var weight *tensor.Tensor
					on := func(dev tensor.Device, dtype tensor.DType) (out []float32, grads [][]float32) {
						in := make(list, len(inputs))
						for i, x := range inputs {
							in[i] = s.Scale(s.ToDevice(s.ToDType(x, dtype), dev), 1)
							if !o.fixed {
								s.Leaf(in[i])
							}
						}
						y := o.f(s, dev, in)
						testkit.Is(t, y.Device(), dev, "the result is on")
						out = y.Float32s()
						if o.fixed {
							return out, nil
						}
						if weight == nil {
							weight = s.Normal(rng, 0, 1, y.Shape()...)
						}
						of := s.Sum(s.Mul(s.ToDType(y, tensor.F32), s.ToDevice(weight, dev)))
						for i, g := range s.Gradients(of, in) {
							if g == nil || g.Device() != dev {
								t.Fatalf("gradient %d: %v", i, g)
							}
							grads = append(grads, g.Float32s())
						}
						return out, grads
					}
					want, wantGrads := on(tensor.CPU, tensor.F32)
					got, gotGrads := on(card, as.dtype)
					near(t, name, got, want, as.forward)
					for i := range wantGrads {
						near(t, name+"/gradient"+string(rune('0'+i)), gotGrads[i], wantGrads[i], as.backward)
					}
				})
			})
		}
	}
}

// TestDropout: the card draws masks of its own, of the right rate; the gradient has the mask of the values, and the same
// state gives the same.
func TestDropout(t *testing.T) {
	const n, p = 200_000, 0.1
	for name, f := range map[string]func(s *scope, x *tensor.Tensor) *tensor.Tensor{
		"dropout": func(s *scope, x *tensor.Tensor) *tensor.Tensor { return s.Dropout(x, p, &tensor.RNG{}) },
		"add_dropout": func(s *scope, x *tensor.Tensor) *tensor.Tensor {
			return s.AddDropout(s.Zeros(tensor.F32, card, n), x, p, &tensor.RNG{})
		},
		"relu_dropout": func(s *scope, x *tensor.Tensor) *tensor.Tensor { return s.ReluDropout(x, p, &tensor.RNG{}) },
	} {
		run(t, func(s *tensor.Scope) {
			x := s.Full(1, tensor.F32, card, n)
			s.Leaf(x)
			tensor.SeedDevice(card, &tensor.RNG{Seed: 7})
			y := f(s, x)
			mask := y.Float32s()
			kept := 0
			for _, v := range mask {
				if v != 0 {
					kept++
				}
			}
			if share := float64(kept) / n; math.Abs(share-(1-p)) > 0.005 {
				t.Errorf("%s kept %.4f", name, share)
			}
			near(t, name+"/gradient", s.Gradients(s.Sum(y), list{x})[0].Float32s(), mask, 1e-6)
			tensor.SeedDevice(card, &tensor.RNG{Seed: 7})
			near(t, name+"/again", f(s, x).Float32s(), mask, 0)
			tensor.SeedDevice(card, &tensor.RNG{Seed: 8})
			if slices.Equal(f(s, x).Float32s(), mask) {
				t.Errorf("%s: another seed draws the same mask", name)
			}
		})
	}
}

// TestAttentionDropout: the gradient of attention follows the mask that the seed draws.
func TestAttentionDropout(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		const rows, width = 20, 12
		normal := func(seed uint64, n ...int64) *tensor.Tensor {
			return s.ToDevice(s.Normal(&tensor.RNG{Seed: seed}, 0, 1, n...), card)
		}
		q, k, v, g, direction := normal(1, rows, width), normal(2, rows, width), normal(3, rows, width), normal(4, rows, width), normal(5, rows, width)
		s.Leaf(q)
		value := func(q *tensor.Tensor) *tensor.Tensor {
			tensor.SeedDevice(card, &tensor.RNG{Seed: 5})
			return s.Sum(s.Mul(s.PackedAttention(q, k, v, nil, packed([]int64{9, 11}, []int64{9, 11}), tensor.AttentionOptions{Heads: 2, Scale: 1, Dropout: 0.3}), g))
		}
		grad := s.Gradients(value(q), list{q})[0]
		tensor.NoGrad(func() {
			const h = 1e-2
			got := s.Sum(s.Mul(grad, direction)).Item()
			want := (value(s.Add(q, s.Scale(direction, h))).Item() - value(s.Add(q, s.Scale(direction, -h))).Item()) / (2 * h)
			if math.Abs(got-want) > 0.01*max(1, math.Abs(want)) {
				t.Errorf("the gradient says %g, the values %g", got, want)
			}
		})
	})
}
