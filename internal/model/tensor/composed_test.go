package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// onBoth computes on the CPU and on an emulated card what f gives: lists of numbers, by name.
func onBoth(t *testing.T, f func(s *Scope, card bool) map[string]*Tensor) (cpu, card map[string][]float32) {
	t.Helper()
	once := func(card bool) map[string][]float32 {
		out := map[string][]float32{}
		run(t, func(s *Scope) {
			for name, x := range f(s, card) {
				out[name] = x.Float32s()
			}
		})
		return out
	}
	cpu = once(false)
	defer Emulate()()
	return cpu, once(true)
}

// close compares numbers relative to the largest of want.
func alike(t *testing.T, name string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", name, len(got), len(want))
		return
	}
	most, off := 0.0, 0.0
	for i := range want {
		most = max(most, math.Abs(float64(want[i])))
		if d := math.Abs(float64(got[i] - want[i])); !(d <= off) {
			off = d
		}
	}
	if !(off <= tolerance*most) {
		t.Errorf("%s: off by %g of %g, more than %g of it", name, off, most, tolerance)
	}
}

func alikeAll(t *testing.T, got, want map[string][]float32, tolerance float64) {
	t.Helper()
	for name := range want {
		alike(t, name, got[name], want[name], tolerance)
	}
}

// tolerances of the composed path: of float32's results, and of those whose products are in
// half precision, whose numbers have 11 and 8 bits.
var tolerances = map[DType]float64{F32: 1e-5, F16: 4e-3, BF16: 3e-2}

func packedSpans(lens []int64) (start []int64, total int64) {
	for _, n := range lens {
		start = append(start, total)
		total += n
	}
	return start, total
}

// attentionCase is one call of packed attention with gradients.
type attentionCase struct {
	q, k   []int64 // lengths; k nil: those of q, which lie side by side with them
	biased bool
	causal bool
	scale  float64
	joined bool // keys and values come as one
	dtype  DType
	form   form
}

func (c attentionCase) String() string {
	return fmt.Sprintf("%v-%v-bias=%v-causal=%v-%g-%v-%s-form%d", c.q, c.k, c.biased, c.causal, c.scale, c.joined, c.dtype, c.form)
}

const testHeads, testWidth = 3, 24

func (c attentionCase) compute(s *Scope, card bool) map[string]*Tensor {
	rng := &RNG{Seed: 8}
	var spans Spans
	var rows, keys int64
	spans.QStart, rows = packedSpans(c.q)
	spans.QLen, spans.KStart, spans.KLen, keys = c.q, spans.QStart, c.q, rows
	if c.k != nil {
		spans.KStart, keys = packedSpans(c.k)
		spans.KLen = c.k
	}
	// What half precision rounds is rounded on both sides.
	leaf := func(x *Tensor) *Tensor {
		x = s.ToDType(s.ToDType(x, c.dtype), F32)
		if card {
			x = s.ToDType(x, c.dtype)
		}
		s.Leaf(x)
		return x
	}
	g := s.Normal(rng, 0, 1, rows, testWidth)
	var bias *Tensor
	if c.biased {
		bias = s.Normal(rng, 0, 1, testHeads, slices.Max(c.q)+2, max(slices.Max(c.q), slices.Max(spans.KLen))+1)
		bias = s.ToDType(s.ToDType(bias, c.dtype), F32)
		s.Leaf(bias)
	}
	o := AttentionOptions{Heads: testHeads, Scale: c.scale, Causal: c.causal, form: c.form}
	if card {
		p := s.NewPadding(spans.QStart, spans.QLen, rows, 0, s.Upload(CUDA(0), PaddingIndexes(spans.QStart, spans.QLen, rows, 0))[0])
		of := p
		if c.k != nil {
			of = s.NewPadding(spans.KStart, spans.KLen, keys, 0, s.Upload(CUDA(0), PaddingIndexes(spans.KStart, spans.KLen, keys, 0))[0])
		}
		spans.Layout = NewLayout(p, of)
	}
	var out *Tensor
	var leaves []*Tensor
	switch {
	case c.k == nil && c.joined:
		qkv := leaf(s.Normal(rng, 0, 1, rows, 3*testWidth))
		leaves = []*Tensor{qkv}
		out = s.PackedAttentionQKV(qkv, bias, spans, o)
	case c.joined:
		q, kv := leaf(s.Normal(rng, 0, 1, rows, testWidth)), leaf(s.Normal(rng, 0, 1, keys, 2*testWidth))
		leaves = []*Tensor{q, kv}
		out = s.PackedAttentionKV(q, kv, bias, spans, o)
	default:
		leaves = []*Tensor{leaf(s.Normal(rng, 0, 1, rows, testWidth)), leaf(s.Normal(rng, 0, 1, keys, testWidth)), leaf(s.Normal(rng, 0, 1, keys, testWidth))}
		out = s.PackedAttention(leaves[0], leaves[1], leaves[2], bias, spans, o)
	}
	if bias != nil {
		leaves = append(leaves, bias)
	}
	result := map[string]*Tensor{"result": out}
	for i, grad := range s.Gradients(s.Sum(s.Mul(s.ToDType(out, F32), g)), leaves) {
		result[fmt.Sprint("gradient ", i)] = grad
	}
	return result
}

// TestComposedAttention: what a card would run gives what the CPU's kernels give, forward and
// backward, in both forms and all types.
func TestComposedAttention(t *testing.T) {
	self, one := []int64{5, 1, 33, 12}, []int64{7}
	random := rand.New(rand.NewPCG(1, 2))
	var some []attentionCase
	for range 6 {
		c := attentionCase{scale: 1, biased: random.IntN(2) > 0, causal: random.IntN(2) > 0, joined: random.IntN(2) > 0}
		for range 1 + random.IntN(5) {
			c.q = append(c.q, 1+random.Int64N(40))
		}
		some = append(some, c)
		c.k, c.causal = nil, false
		for range c.q {
			c.k = append(c.k, 1+random.Int64N(40))
		}
		some = append(some, c)
	}
	for _, c := range append(some, []attentionCase{
		{q: self, biased: true, scale: 1},
		{q: self, biased: true, scale: 1, joined: true},
		{q: self, biased: true, causal: true, scale: 1, joined: true},
		{q: self, causal: true, scale: 0.25, joined: true},
		{q: self, scale: 0.25},
		{q: one, biased: true, causal: true, scale: 1},
		{q: []int64{1}, biased: true, scale: 1, joined: true},
		{q: self, k: []int64{9, 17, 1, 40}, scale: 1, joined: true},
		{q: self, k: []int64{9, 17, 1, 40}, biased: true, scale: 0.5},
		{q: []int64{1, 1}, k: []int64{16, 3}, scale: 1, joined: true},
		{q: []int64{3, 4}, k: []int64{5, 4}, causal: true, scale: 1},
	}...) {
		for _, of := range []struct {
			dtype DType
			form  form
		}{{F32, byType}, {F32, kernel}, {F32, padded}, {F16, byType}, {F16, padded}, {F16, products}, {BF16, byType}, {BF16, products}} {
			c.dtype, c.form = of.dtype, of.form
			t.Run(c.String(), func(t *testing.T) {
				cpu, card := onBoth(t, c.compute)
				alikeAll(t, card, cpu, tolerances[c.dtype])
			})
		}
	}
}

// TestAttentionLaunches: what attention asks of a card, forward and backward, once its layout is
// there: nothing is copied and nothing waits.
func TestAttentionLaunches(t *testing.T) {
	defer Emulate()()
	for _, c := range []struct {
		name              string
		dtype             DType
		cross             bool
		form              form
		forward, backward int64
	}{
		{"self, half", BF16, false, byType, 3, 5}, {"self, float32", F32, false, byType, 6, 10},
		{"cross, half", BF16, true, byType, 1, 2}, {"cross, float32", F32, true, byType, 7, 11}, {"cross, padded", BF16, true, padded, 4, 7},
	} {
		run(t, func(s *Scope) {
			lens := []int64{5, 1, 33, 12}
			start, rows := packedSpans(lens)
			p := s.NewPadding(start, lens, rows, 0, s.Upload(CUDA(0), PaddingIndexes(start, lens, rows, 0))[0])
			spans := Spans{QStart: start, QLen: lens, KStart: start, KLen: lens, Layout: NewLayout(p, p)}
			rng := &RNG{Seed: 2}
			leaf := func(shape ...int64) *Tensor {
				x := s.ToDType(s.Normal(rng, 0, 1, shape...), c.dtype)
				s.Leaf(x)
				return x
			}
			qkv, q, kv, bias := leaf(rows, 3*testWidth), leaf(rows, testWidth), leaf(rows, 2*testWidth), s.Normal(rng, 0, 1, testHeads, 33, 33)
			s.Leaf(bias)
			leaves := []*Tensor{qkv, bias}
			call := func() *Tensor {
				return s.PackedAttentionQKV(qkv, bias, spans, AttentionOptions{Heads: testHeads, Scale: 1, Dropout: 0.1, RNG: rng, form: c.form})
			}
			if c.cross {
				other := s.NewPadding(start, lens, rows, 0, s.Upload(CUDA(0), PaddingIndexes(start, lens, rows, 0))[0])
				spans.Layout, leaves = NewLayout(p, other), []*Tensor{q, kv}
				call = func() *Tensor {
					return s.PackedAttentionKV(q, kv, nil, spans, AttentionOptions{Heads: testHeads, Scale: 1, Dropout: 0.1, RNG: rng, form: c.form})
				}
			}
			call() // makes the layout's indexes, and the bias with what is hidden
			var out *Tensor
			forward := Count(func() { out = call() })
			loss := s.Sum(s.Mul(out, out)) // of a sum alone the gradient would be one number
			backward := Count(func() { s.Gradients(loss, leaves) })
			backward.Launches -= 4 // the gradient of the sum, its products with the result, and their sum
			if !c.cross {
				backward.Launches -= backward.Operators["sum"] // of the bias, once for all layers
			}
			for pass, got := range map[string]Counts{"forward": forward, "backward": backward} {
				want := c.forward
				if pass == "backward" {
					want = c.backward
				}
				if got.Launches != want || got.Uploads+got.Downloads != 0 || len(got.Syncs) != 0 {
					t.Errorf("%s, %s: %d launches, want %d: %+v", c.name, pass, got.Launches, want, got)
				}
			}
		})
	}
}

// TestMaskBiasOnce: layers that share a bias share what is made of it, also across scopes.
func TestMaskBiasOnce(t *testing.T) {
	defer Emulate()()
	run(t, func(s *Scope) {
		lens := []int64{5, 3}
		start, rows := packedSpans(lens)
		p := s.NewPadding(start, lens, rows, 0, s.Upload(CUDA(0), PaddingIndexes(start, lens, rows, 0))[0])
		spans := Spans{Layout: NewLayout(p, p)}
		rng := &RNG{Seed: 2}
		qkv, bias := s.Normal(rng, 0, 1, rows, 3*testWidth), s.Normal(rng, 0, 1, testHeads, 5, 5)
		s.Leaf(bias)
		layer := func(s *Scope) *Tensor {
			return s.Sum(s.PackedAttentionQKV(qkv, bias, spans, AttentionOptions{Heads: testHeads, Scale: 1}))
		}
		NoGrad(func() { Within(func(inner *Scope) { layer(inner) }) })
		c := Count(func() { s.Gradients(s.Add(layer(s), layer(s)), []*Tensor{bias}) })
		if n := c.Operators["masked_fill_"]; n != 1 {
			t.Errorf("%d times made for two layers that record", n)
		}
		c = Count(func() { layer(s) })
		if n := c.Operators["masked_fill_"]; n != 0 {
			t.Errorf("%d times made for a third", n)
		}
	})
}

// TestComposedAttentionDropout: the gradient is that of the mask that the seed draws, and the
// mean over masks is what there is without dropout.
func TestComposedAttentionDropout(t *testing.T) {
	defer Emulate()()
	for _, of := range []form{products, kernel, padded} {
		run(t, func(s *Scope) {
			rng := &RNG{Seed: 8}
			lens := []int64{9, 11}
			start, rows := packedSpans(lens)
			spans := Spans{QStart: start, QLen: lens, KStart: start, KLen: lens}
			q, g := s.Normal(rng, 0, 1, rows, 3*testWidth), s.Normal(rng, 0, 1, rows, testWidth)
			s.Leaf(q)
			out := func(x *Tensor, p float64, seed uint64) *Tensor {
				SeedDevice(CUDA(0), &RNG{Seed: seed})
				return s.PackedAttentionQKV(x, nil, spans, AttentionOptions{Heads: testHeads, Scale: 1, Dropout: p, form: of})
			}
			grad := s.Gradients(s.Sum(s.Mul(out(q, 0.3, 5), g)), []*Tensor{q})[0]
			const h = 1e-2
			direction := s.Normal(rng, 0, 1, rows, 3*testWidth)
			var at [2]float64
			var mean *Tensor
			NoGrad(func() {
				for j, sign := range []float64{h, -h} {
					at[j] = s.Sum(s.Mul(out(s.Add(q, s.Scale(direction, sign)), 0.3, 5), g)).Item()
				}
				mean = s.Zeros(F32, CPU, rows, testWidth)
				for i := range 400 {
					mean = s.Add(mean, s.Scale(out(q, 0.3, uint64(100+i)), 1.0/400))
				}
				alike(t, "mean", mean.Float32s(), out(q, 0, 0).Float32s(), 0.2)
			})
			got, want := s.Sum(s.Mul(grad, direction)).Item(), (at[0]-at[1])/(2*h)
			if math.Abs(got-want) > 0.01*max(1, math.Abs(want)) {
				t.Errorf("form %d: the gradient says %g, the values %g", of, got, want)
			}
		})
	}
}

// TestSharedKeys: in decoding several sequences of queries may look at the same keys; they have
// no gradients then.
func TestSharedKeys(t *testing.T) {
	spans := Spans{QStart: []int64{0, 2, 3}, QLen: []int64{2, 1, 1}, KStart: []int64{0, 0, 5}, KLen: []int64{5, 5, 4}}
	compute := func(s *Scope, learn bool) *Tensor {
		rng := &RNG{Seed: 3}
		q, k, v := s.Normal(rng, 0, 1, 4, testWidth), s.Normal(rng, 0, 1, 9, testWidth), s.Normal(rng, 0, 1, 9, testWidth)
		if learn {
			s.Leaf(k)
		}
		out := s.PackedAttention(q, k, v, nil, spans, AttentionOptions{Heads: testHeads, Scale: 1})
		if learn {
			s.Gradients(s.Sum(out), []*Tensor{k})
		}
		return out
	}
	cpu, card := onBoth(t, func(s *Scope, _ bool) map[string]*Tensor { return map[string]*Tensor{"result": compute(s, false)} })
	alikeAll(t, card, cpu, 1e-5)
	defer Emulate()()
	if err := Run(func(s *Scope) { compute(s, true) }); err == nil {
		t.Error("gradients of shared keys were given")
	}
}

// TestBatchAttention: a padded batch against packed sequences of one length.
func TestBatchAttention(t *testing.T) {
	const n, m, l = 4, 5, 11
	for _, of := range []struct {
		dtype DType
		form  form
	}{{F32, products}, {F32, kernel}, {F16, kernel}, {BF16, products}} {
		cpu, card := onBoth(t, func(s *Scope, card bool) map[string]*Tensor {
			rng := &RNG{Seed: 3}
			data := []*Tensor{s.Normal(rng, 0, 1, n*m, testWidth), s.Normal(rng, 0, 1, n*l, testWidth), s.Normal(rng, 0, 1, n*l, testWidth)}
			for i := range data {
				if data[i] = s.ToDType(data[i], of.dtype); !card {
					data[i] = s.ToDType(data[i], F32)
				}
				s.Leaf(data[i])
			}
			bias, g := s.Normal(rng, 0, 1, testHeads, m, l), s.Normal(rng, 0, 1, n*m, testWidth)
			var out *Tensor
			if card {
				out = s.View(s.BatchAttention(s.View(data[0], n, m, testWidth), s.View(data[1], n, l, testWidth), s.View(data[2], n, l, testWidth), bias,
					AttentionOptions{Heads: testHeads, Scale: 0.5, form: of.form}), n*m, testWidth)
			} else {
				var spans Spans
				for i := range int64(n) {
					spans.QStart, spans.QLen = append(spans.QStart, i*m), append(spans.QLen, m)
					spans.KStart, spans.KLen = append(spans.KStart, i*l), append(spans.KLen, l)
				}
				out = s.PackedAttention(data[0], data[1], data[2], bias, spans, AttentionOptions{Heads: testHeads, Scale: 0.5})
			}
			result := map[string]*Tensor{"result": out}
			for i, grad := range s.Gradients(s.Sum(s.Mul(s.ToDType(out, F32), g)), data) {
				result[fmt.Sprint("gradient ", i)] = grad
			}
			return result
		})
		alikeAll(t, card, cpu, tolerances[of.dtype])
	}
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
			"other memory": {parts[1], s.Clone(parts[2])}, "other strides": {s.Narrow(s.View(all, 4, 6), 0, 0, 2), s.Narrow(all, 1, 6, 6)}} {
			if got := s.Pair(of[0], of[1]); got != nil {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}
