package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// relative is near by the largest number of what is wanted.
func relative(t *testing.T, s *Scope, name string, got, want *Tensor, most float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want.Float32s() {
		largest = max(largest, math.Abs(float64(v)))
	}
	near(t, name, s.Scale(s.ToDType(got, F32), 1/largest), s.Scale(want, 1/largest), most)
}

// spansOf are sequences of these lengths, one after another.
func spansOf(q, k []int64) (spans Spans, rows, keys int64) {
	spans.QLen, spans.KLen = q, k
	for i := range q {
		spans.QStart, spans.KStart = append(spans.QStart, rows), append(spans.KStart, keys)
		rows, keys = rows+q[i], keys+k[i]
	}
	return spans, rows, keys
}

// TestHalfAttention: attention in half precision, whose rows are padded, is float32's: results and gradients, of queries and keys
// of their own and of keys that sequences share.
func TestHalfAttention(t *testing.T) {
	const heads, width = 3, 24
	self, other := []int64{5, 1, 33, 49}, []int64{9, 17, 1, 24}
	for _, c := range []struct {
		k              []int64
		biased, causal bool
		scale          float64
	}{{self, true, false, 1}, {self, true, true, 1}, {self, false, true, 0.25}, {other, false, false, 1}, {other, true, false, 0.5}} {
		for dtype, most := range map[DType]float64{BF16: 3e-2, F16: 4e-3} {
			run(t, func(s *Scope) {
				spans, rows, keys := spansOf(self, c.k)
				compute := func(as DType) (all []*Tensor) {
					rng := &RNG{Seed: 8}
					var leaves []*Tensor
					for _, n := range []int64{rows, keys, keys} {
						x := s.ToDType(s.ToDType(s.Normal(rng, 0, 1, n, width), dtype), as)
						s.Leaf(x)
						leaves = append(leaves, x)
					}
					g, bias := s.Normal(rng, 0, 1, rows, width), (*Tensor)(nil)
					if c.biased { // a parameter: float32
						bias = s.ToDType(s.ToDType(s.Normal(rng, 0, 1, heads, 64, 66), dtype), F32)
						s.Leaf(bias)
						leaves = append(leaves, bias)
					}
					out := s.PackedAttention(leaves[0], leaves[1], leaves[2], bias, spans, AttentionOptions{Heads: heads, Scale: c.scale, Causal: c.causal})
					NoGrad(func() { // on some processors by other kernels
						all = append(all, s.PackedAttention(leaves[0], leaves[1], leaves[2], bias, spans, AttentionOptions{Heads: heads, Scale: c.scale, Causal: c.causal}))
					})
					return append(append(all, out), s.Gradients(s.Sum(s.Mul(s.ToDType(out, F32), g)), leaves)...)
				}
				want := compute(F32)
				for i, got := range compute(dtype) {
					relative(t, s, fmt.Sprintf("%+v, %s: %d", c, dtype, i), got, want[i], most)
				}
			})
		}
	}
}

// TestAttentionOfNaN: a number that is none is seen in all that attends to it, and in nothing else.
func TestAttentionOfNaN(t *testing.T) {
	for _, dtype := range []DType{F32, BF16} {
		run(t, func(s *Scope) {
			x, bad := s.Normal(&RNG{Seed: 8}, 0, 1, 20, 16), make([]float32, 20*16)
			bad[13*16] = float32(math.NaN()) // of the first head of the second text
			NoGrad(func() {
				x, k := s.ToDType(x, dtype), s.ToDType(s.Add(x, s.FromFloat32s(bad, CPU, 20, 16)), dtype)
				spans, _, _ := spansOf([]int64{7, 13}, []int64{7, 13})
				out := s.ToDType(s.PackedAttention(x, k, x, nil, spans, AttentionOptions{Heads: 2, Scale: 1}), F32).Float32s()
				for i, v := range out {
					if hit := i >= 7*16 && i%16 < 8; hit != math.IsNaN(float64(v)) {
						t.Fatalf("%s: number %d of row %d is %g", dtype, i%16, i/16, v)
					}
				}
			})
		})
	}
}

// TestHeadSlices: the head's loss in half precision is float32's, with labels left out, smoothed and scaled, in one slice and in
// several; of a last one too.
func TestHeadSlices(t *testing.T) {
	for _, c := range []struct {
		n, vocabulary int64
		dtype         DType
		smooth, scale float64
		most          float64
	}{
		{37, 301, F16, 0, 65536, 4e-3}, {37, 301, BF16, 0.1, 1, 3e-2}, {1, 301, BF16, 0, 1, 3e-2},
		{11, 1 << 28 / 10 / 15, F16, 0.1, 1024, 1e-2}, // slices of 8 rows and of 3: 15 would fit, in 256 MiB
	} {
		run(t, func(s *Scope) {
			d := int64(8)
			if c.vocabulary > 1000 {
				d = 2 // half precision is slow on a CPU
			}
			labels := make([]int64, c.n)
			for i := range labels {
				if labels[i] = int64(i*7919) % c.vocabulary; i%5 == 3 {
					labels[i] = -100
				}
			}
			compute := func(as DType, o HeadOptions) []*Tensor {
				rng := &RNG{Seed: 2}
				h, w := s.Normal(rng, 0, 1, c.n, d), s.Normal(rng, 0, 1, c.vocabulary, d)
				h, w = s.ToDType(s.ToDType(h, c.dtype), as), s.ToDType(s.ToDType(w, c.dtype), as)
				s.Leaf(h)
				s.Leaf(w)
				o.Scale = s.Full(c.scale, F32, CPU)
				loss := s.HeadLoss(h, w, s.FromInt64s(labels, CPU, c.n), -100, c.smooth, o)
				if o.Last {
					return append(s.Gradients(loss, []*Tensor{h, w}), loss)
				}
				return append(s.Gradients(s.Scale(loss, 1), []*Tensor{h, w}), loss)
			}
			want := compute(F32, HeadOptions{})
			for _, last := range []bool{false, true} {
				for i, got := range compute(c.dtype, HeadOptions{Last: last}) {
					relative(t, s, fmt.Sprintf("%+v, last %v: %d", c, last, i), got, want[i], c.most)
				}
			}
			if loss := s.HeadLoss(s.Zeros(c.dtype, CPU, 3, 4), s.Zeros(c.dtype, CPU, 5, 4), s.Full(-100, I64, CPU, 3), -100, 0, HeadOptions{}).Item(); !math.IsNaN(loss) {
				t.Errorf("loss %g of no labels, transformers' is NaN", loss)
			}
		})
	}
}

// TestHeadScale: gradients that F16 has no numbers for are there with a scale.
func TestHeadScale(t *testing.T) {
	run(t, func(s *Scope) {
		rng := &RNG{Seed: 2}
		h, w := s.ToDType(s.Normal(rng, 0, 1e-3, 4096, 8), F16), s.ToDType(s.Normal(rng, 0, 1e-3, 300, 8), F16)
		s.Leaf(h)
		s.Leaf(w)
		labels := s.Full(7, I64, CPU, 4096)
		lost := func(o HeadOptions, after float64) float64 {
			loss := s.HeadLoss(h, w, labels, -100, 0, o)
			return s.SquareSum(s.Gradients(s.Scale(loss, after), []*Tensor{h})[0])
		}
		with, without := lost(HeadOptions{Scale: s.Full(65536, F32, CPU)}, 1), lost(HeadOptions{}, 65536)
		if with == 0 || math.Abs(without/with-1) < 0.05 {
			t.Errorf("squares %g with the scale, %g without: nothing is lost", with, without)
		}
	})
}

// TestPair: parts of one matrix, alike and in their order, are seen at once; others are not.
func TestPair(t *testing.T) {
	run(t, func(s *Scope) {
		all := s.View(s.Arange(24, CPU), 2, 12)
		parts := s.Split(all, -1, 3, 4, 4, 1)
		if got := s.Contiguous(s.Pair(parts[1], parts[2])).Int64s(); !slices.Equal(got, []int64{3, 4, 5, 6, 15, 16, 17, 18, 7, 8, 9, 10, 19, 20, 21, 22}) {
			t.Error(got)
		}
		for name, of := range map[string][2]*Tensor{"another order": {parts[2], parts[1]}, "the same": {parts[1], parts[1]}, "other shapes": {parts[0], parts[1]},
			"other memory": {parts[1], s.Add(parts[2], s.Zeros(I64, CPU, 1))}, "other strides": {s.Narrow(s.View(all, 4, 6), 0, 0, 2), s.Narrow(all, 1, 6, 6)}} {
			if got := s.Pair(of[0], of[1]); got != nil {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}
