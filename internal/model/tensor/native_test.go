package tensor

import (
	"bytes"
	"math"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// attentionByHand is one sequence, all heads, in single operations.
func attentionByHand(s *Scope, q, k, v, bias *Tensor, heads int64, scale float64, causal bool) *Tensor {
	m, n, d := q.Dim(0), k.Dim(0), q.Dim(1)/heads
	split := func(t *Tensor, rows int64) *Tensor { return s.Transpose(s.View(s.Contiguous(t), rows, heads, d), 0, 1) }
	scores := s.Scale(s.MatMul(split(q, m), s.Transpose(split(k, n), 1, 2)), scale)
	if bias != nil {
		scores = s.Add(scores, s.Narrow(s.Narrow(bias, 1, 0, m), 2, 0, n))
	}
	if causal {
		hidden := make([]float32, m*n)
		for i := range m {
			for j := i + n - m + 1; j < n; j++ {
				hidden[i*n+j] = -1e30
			}
		}
		scores = s.Add(scores, s.FromFloat32s(hidden, CPU, m, n))
	}
	out := s.MatMul(s.Exp(s.LogSoftmax(scores, -1, F32)), split(v, n))
	return s.View(s.Contiguous(s.Transpose(out, 0, 1)), m, heads*d)
}

// Packed attention, forward and every gradient, against single operations; on one
// thread and two, with enough work to be shared.
func TestPackedAttention(t *testing.T) {
	const heads, d = 3, 8
	lens := []int64{5, 1, 33, 12, 64, 40}
	for _, c := range []struct {
		causal, biased bool
		scale          float64
	}{{false, true, 1}, {true, true, 1}, {true, false, 0.25}, {false, false, 0.25}} {
		for _, threads := range []int{1, 2} {
			SetNumThreads(threads)
			run(t, func(s *Scope) {
				rng := &RNG{Seed: 8}
				spans, total, _ := spansOf(lens, lens)
				leaves := []*Tensor{s.Normal(rng, 0, 1, total, heads*d), s.Normal(rng, 0, 1, total, heads*d), s.Normal(rng, 0, 1, total, heads*d)}
				var bias *Tensor
				if c.biased {
					bias = s.Normal(rng, 0, 1, heads, 70, 66)
					leaves = append(leaves, bias)
				}
				for _, l := range leaves {
					s.Leaf(l)
				}
				q, k, v := leaves[0], leaves[1], leaves[2]
				g := s.Normal(rng, 0, 1, total, heads*d)
				got := s.PackedAttention(q, k, v, bias, spans, AttentionOptions{Heads: heads, Scale: c.scale, Causal: c.causal})
				var parts []*Tensor
				for i, at := range spans.QStart {
					row := func(t *Tensor) *Tensor { return s.Narrow(t, 0, at, lens[i]) }
					parts = append(parts, attentionByHand(s, row(q), row(k), row(v), bias, heads, c.scale, c.causal))
				}
				want := s.Cat(0, parts...)
				near(t, "attention", got, want, 2e-6)
				a := s.Gradients(s.Sum(s.Mul(got, g)), leaves)
				b := s.Gradients(s.Sum(s.Mul(want, g)), leaves)
				for i, name := range []string{"dq", "dk", "dv", "dbias"}[:len(leaves)] {
					near(t, name, a[i], b[i], 1e-5)
				}
			})
		}
	}
	SetNumThreads(2)
}

// With dropout the gradient follows the same mask: it predicts how the output
// changes with q, k and v.
func TestPackedAttentionDropout(t *testing.T) {
	run(t, func(s *Scope) {
		rng := &RNG{Seed: 8}
		leaves := []*Tensor{s.Normal(rng, 0, 1, 20, 6), s.Normal(rng, 0, 1, 20, 6), s.Normal(rng, 0, 1, 20, 6)}
		g := s.Normal(rng, 0, 1, 20, 6)
		spans := Spans{QStart: []int64{0, 9}, QLen: []int64{9, 11}, KStart: []int64{0, 9}, KLen: []int64{9, 11}}
		value := func(in []*Tensor) *Tensor {
			same := RNG{Seed: 5}
			out := s.PackedAttention(in[0], in[1], in[2], nil, spans, AttentionOptions{Heads: 2, Scale: 1, Dropout: 0.3, RNG: &same})
			return s.Sum(s.Mul(out, g))
		}
		for _, l := range leaves {
			s.Leaf(l)
		}
		grads := s.Gradients(value(leaves), leaves)
		const h = 1e-2
		for i := range leaves {
			direction := s.Normal(rng, 0, 1, 20, 6)
			var at [2]float64
			NoGrad(func() {
				for j, sign := range []float64{h, -h} {
					moved := append([]*Tensor(nil), leaves...)
					moved[i] = s.Add(leaves[i], s.Scale(direction, sign))
					at[j] = value(moved).Item()
				}
			})
			got, want := s.Sum(s.Mul(grads[i], direction)).Item(), (at[0]-at[1])/(2*h)
			if math.Abs(got-want) > 0.01*max(1, math.Abs(want)) {
				t.Errorf("operand %d: the gradient says %g, the values %g", i, got, want)
			}
		}
	})
}

func TestHeadLoss(t *testing.T) {
	run(t, func(s *Scope) {
		rng := &RNG{Seed: 2}
		const n, d, vocabulary = 1100, 12, 301 // more rows than one block has
		h, w := s.Normal(rng, 0, 1, n, d), s.Normal(rng, 0, 1, vocabulary, d)
		ids := make([]int64, n)
		for i := range ids {
			if ids[i] = int64(i*7) % vocabulary; i%5 == 0 {
				ids[i] = -100
			}
		}
		labels := s.FromInt64s(ids, CPU, n)
		s.Leaf(h)
		s.Leaf(w)
		for _, smooth := range []float64{0, 0.1} {
			got := s.HeadLoss(h, w, labels, -100, smooth, HeadOptions{})
			want := s.CrossEntropy(s.Linear(h, w), labels, -100, smooth)
			near(t, "loss", got, want, 1e-6)
			a := s.Gradients(s.Scale(got, 3), []*Tensor{h, w})
			b := s.Gradients(s.Scale(want, 3), []*Tensor{h, w})
			near(t, "dh", a[0], b[0], 1e-7)
			near(t, "dw", a[1], b[1], 1e-7)
		}
		if loss := s.HeadLoss(h, w, s.Full(-100, I64, CPU, n), -100, 0, HeadOptions{}).Item(); !math.IsNaN(loss) {
			t.Errorf("loss %g of no labels, transformers' is NaN", loss)
		}
	})
}

// The element-wise kernels against single operations.
func TestResidualAndRelu(t *testing.T) {
	run(t, func(s *Scope) {
		rng := &RNG{Seed: 2}
		x, r, g := s.Normal(rng, 0, 1, 300, 111), s.Normal(rng, 0, 1, 300, 111), s.Normal(rng, 0, 1, 300, 111)
		s.Leaf(x)
		s.Leaf(r)
		grads := func(out *Tensor) []*Tensor { return s.Gradients(s.Sum(s.Mul(out, g)), []*Tensor{x, r}) }
		for _, p := range []float64{0, 0.25} {
			a, b := RNG{Seed: 1}, RNG{Seed: 1}
			got, want := s.AddDropout(r, x, p, &a), s.Add(r, s.Dropout(x, p, &b))
			near(t, "residual", got, want, 1e-6)
			ga, gb := grads(got), grads(want)
			near(t, "residual dx", ga[0], gb[0], 1e-6)
			near(t, "residual dr", ga[1], gb[1], 0)
			got, want = s.ReluDropout(x, p, &a), s.Dropout(s.Relu(x), p, &b)
			near(t, "relu", got, want, 1e-6)
			near(t, "relu dx", grads(got)[0], grads(want)[0], 1e-6)
		}
		rows := s.FromInt64s([]int64{4, 0, 4}, CPU, 3)
		to, same := s.Zeros(F32, CPU, 6, 111), s.Zeros(F32, CPU, 6, 111)
		from := s.Narrow(s.Detach(x), 0, 0, 3)
		s.AddRowsInPlace(to, rows, from)
		s.IndexAddInPlace(same, 0, rows, from)
		near(t, "rows", to, same, 1e-6)
		if err := Try(func() { s.AddRowsInPlace(to, s.FromInt64s([]int64{6}, CPU, 1), s.Narrow(from, 0, 0, 1)) }); err == nil {
			t.Error("a row that is not there was accepted")
		}
	})
}

// Linear, forward and every gradient, against libtorch's products: edges of blocks,
// more depth than is packed at a time, operands that are views.
func TestLinear(t *testing.T) {
	for _, size := range []struct{ m, k, n int64 }{{1, 1, 1}, {3, 40, 7}, {13, 17, 33}, {97, 1030, 300}, {530, 64, 1100}} {
		for _, threads := range []int{1, 2} {
			SetNumThreads(threads)
			run(t, func(s *Scope) {
				rng := &RNG{Seed: 4}
				x := s.Narrow(s.Normal(rng, 0, 1, size.m, size.k+5), 1, 3, size.k)
				w, b, g := s.Normal(rng, 0, 1, size.n, size.k), s.Normal(rng, 0, 1, size.n), s.Normal(rng, 0, 1, size.m, size.n)
				s.Leaf(x)
				s.Leaf(w)
				tolerance := 1e-6 * math.Sqrt(float64(size.k+size.m+size.n))
				want := s.MatMul(x, s.Transpose(w, 0, 1))
				got := s.Linear(x, w)
				near(t, "product", got, want, tolerance)
				near(t, "product and bias", s.LinearBias(x, w, b), s.Add(want, b), tolerance)
				leaves := []*Tensor{x, w}
				a, c := s.Gradients(s.Sum(s.Mul(got, g)), leaves), s.Gradients(s.Sum(s.Mul(want, g)), leaves)
				near(t, "dx", a[0], c[0], tolerance)
				near(t, "dw", a[1], c[1], tolerance)
			})
		}
	}
	SetNumThreads(2)
}

// SquareSum is the same for any number of threads; empty tensors have none.
func TestSquareSum(t *testing.T) {
	run(t, func(s *Scope) {
		x := s.Normal(&RNG{Seed: 2}, 0, 1, 301, 777)
		defer SetNumThreads(NumThreads())
		SetNumThreads(1)
		one := s.SquareSum(x)
		SetNumThreads(3)
		if three := s.SquareSum(x); one != three {
			t.Errorf("%v with one thread, %v with three", one, three)
		}
		if want := s.Sum(s.Mul(x, x)).Item(); math.Abs(one-want) > 1e-6*want {
			t.Errorf("%v, want %v", one, want)
		}
		if other := s.SquareSum(s.ToDType(x, BF16)); math.Abs(one-other) > 1e-3*one {
			t.Errorf("of another type: %v, want %v", other, one)
		}
		testkit.Is(t, s.SquareSum(s.Zeros(F32, CPU, 0, 3)), 0)
	})
}

// TestLinearPacked: Linear's bytes, for any number of rows, with and without a bias, over one part of the depth and two.
func TestLinearPacked(t *testing.T) {
	if !SameForAnyRows() {
		t.Skip("products are libtorch's on this processor")
	}
	for _, rows := range []int64{1, 7, 12, 160, 1031} {
		for _, shape := range [][2]int64{{1, 1}, {31, 72}, {768, 256}, {256, 1024}} {
			run(t, func(s *Scope) {
				x, w, b := s.Normal(&RNG{Seed: 1}, 0, 1, rows, shape[1]), s.Normal(&RNG{Seed: 2}, 0, 1, shape[0], shape[1]), s.Normal(&RNG{Seed: 3}, 0, 1, shape[0])
				packed := s.PackRows(w)
				for _, c := range [][2]*Tensor{{s.Linear(x, w), s.LinearPacked(x, packed, shape[0], nil)}, {s.LinearBias(x, w, b), s.LinearPacked(x, packed, shape[0], b)}} {
					if !bytes.Equal(c[0].Bytes(), c[1].Bytes()) {
						t.Errorf("%d rows by %v: other bytes of a packed matrix", rows, shape)
					}
				}
			})
		}
	}
	testkit.ErrSays(t, Run(func(s *Scope) {
		s.LinearPacked(s.Zeros(F32, CPU, 2, 8), s.PackRows(s.Zeros(F32, CPU, 3, 9)), 3, nil)
	}), "packed for other rows")
}

// TestLinearPackedBF16Rows: sums in float32 of rounded operands, the same bytes whatever rows are beside a row.
func TestLinearPackedBF16Rows(t *testing.T) {
	if !SameForAnyRows() || !MultipliesBF16() {
		t.Skip("products are libtorch's on this processor")
	}
	for _, rows := range []int64{1, 7, 12, 160} {
		for _, shape := range [][2]int64{{1, 1}, {31, 73}, {768, 256}, {96, 2050}} {
			run(t, func(s *Scope) {
				x, w, b := s.Normal(&RNG{Seed: 1}, 0, 1, rows, shape[1]), s.Normal(&RNG{Seed: 2}, 0, 1, shape[0], shape[1]), s.Normal(&RNG{Seed: 3}, 0, 1, shape[0])
				half := s.ToDType(x, BF16)
				packed := s.PackRows(s.ToDType(w, BF16))
				got := s.LinearPacked(x, packed, shape[0], b)
				want := s.LinearBias(s.ToDType(half, F32), s.ToDType(s.ToDType(w, BF16), F32), b)
				if d := s.Sub(got, want).Float32s(); !within(d, 1e-5*float64(shape[1])) {
					t.Errorf("%d rows by %v: other sums than of rounded numbers", rows, shape)
				}
				if !bytes.Equal(got.Bytes(), s.LinearPacked(half, packed, shape[0], b).Bytes()) {
					t.Errorf("%d rows by %v: rows that are rounded already have another product", rows, shape)
				}
				last := s.Narrow(x, 0, rows-1, 1)
				if !bytes.Equal(s.Contiguous(s.Narrow(got, 0, rows-1, 1)).Bytes(), s.LinearPacked(last, packed, shape[0], b).Bytes()) {
					t.Errorf("%d rows by %v: a row alone has another product", rows, shape)
				}
			})
		}
	}
}

// TestExtend: IndexSelect and Cat, of any type and of steps whose rows are apart.
func TestExtend(t *testing.T) {
	run(t, func(s *Scope) {
		for _, of := range []DType{F32, BF16} {
			old := s.ToDType(s.Normal(&RNG{Seed: 1}, 0, 1, 3, 2, 5), of)
			step := s.Split(s.ToDType(s.Normal(&RNG{Seed: 2}, 0, 1, 4, 15), of), -1, 5, 5, 5)[1]
			order := s.FromInt64s([]int64{2, 0, 0, 1}, CPU, 4)
			want := s.Cat(1, s.IndexSelect(old, 0, order), s.View(s.Contiguous(step), 4, 1, 5))
			if got := s.Extend(old, order, step); !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%v: other bytes than of IndexSelect and Cat", of)
			}
			three := s.Narrow(step, 0, 0, 3)
			want = s.Cat(1, old, s.View(s.Contiguous(three), 3, 1, 5))
			if got := s.Extend(old, nil, three); !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%v: other bytes than of Cat", of)
			}
		}
	})
	testkit.ErrSays(t, Run(func(s *Scope) {
		s.Extend(s.Zeros(F32, CPU, 3, 2, 5), s.FromInt64s([]int64{3}, CPU, 1), s.Zeros(F32, CPU, 1, 5))
	}), "row 3 of 3")
	testkit.ErrSays(t, Run(func(s *Scope) { s.Extend(s.Zeros(F32, CPU, 3, 2, 5), nil, s.Zeros(F32, CPU, 2, 5)) }), "and a step of")
}

func within(all []float32, most float64) bool {
	for _, x := range all {
		if !(math.Abs(float64(x)) <= most) {
			return false
		}
	}
	return true
}
