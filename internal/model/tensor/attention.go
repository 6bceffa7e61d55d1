package tensor

import (
	"slices"

	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// Layout is how queries of one padding look at keys of another, on a card or in F16.
type Layout struct {
	q, k   *Padding
	hidden [2]*Tensor // without and with a causal mask
	last   maskBias
}

// maskBias is a bias and what is hidden, as it was combined for the layers so far.
type maskBias struct {
	of, combined *Tensor
	heads        int64
	dtype        DType
	causal       bool
	records      bool
}

// NewLayout is a layout of a batch; one of each pair of paddings serves all layers and passes.
func NewLayout(q, k *Padding) *Layout {
	if q.n != k.n {
		Failf("NewLayout", "%d sequences of queries, %d of keys", q.n, k.n)
	}
	return &Layout{q: q, k: k}
}

// bias is nil or a bias [heads, >=m, >=l] together with what is hidden from each query. It is
// made once for all layers that give the same tensor, whose gradient is summed in its type.
func (l *Layout) bias(op string, bias *Tensor, heads int64, causal bool, q *Tensor) *Tensor {
	records := bias != nil && bias.RequiresGrad() && native.Records()
	want := maskBias{of: bias, heads: heads, dtype: q.DType(), causal: causal, records: records}
	have := l.last
	if have.combined != nil && have.combined.c != nil {
		want.combined = have.combined
		if have == want {
			return have.combined
		}
	}
	s, i := l.q.scope, 0
	if causal {
		i = 1
	}
	if l.hidden[i] == nil {
		c, msg := native.Hidden(l.q.len.n(op), l.k.len.n(op), l.q.most, l.k.most, causal)
		l.hidden[i] = s.ownNative(op, c, msg, l.q.len, l.k.len)
	}
	if bias != nil {
		if shape := bias.Shape(); len(shape) != 3 || shape[0] != heads || shape[1] < l.q.most || shape[2] < l.k.most {
			Failf(op, "the bias %s is not [%d, >=%d, >=%d]", bias, heads, l.q.most, l.k.most)
		}
	}
	c, msg := native.MaskBias(bias.optional(op), l.hidden[i].n(op), heads, l.q.most, l.k.most, q.n(op))
	want.combined = s.ownNative(op, c, msg, bias)
	Free(have.combined) // recorded operations keep what they need of it
	l.last = want
	return want.combined
}

// layoutOf makes a layout where none was made for the batch: by an upload of its own.
func (s *Scope) layoutOf(q, k *Tensor, spans Spans) *Layout {
	if q == k && len(spans.QStart) > 0 && &spans.QStart[0] == &spans.KStart[0] && &spans.QLen[0] == &spans.KLen[0] {
		rows := q.Dim(0)
		all := s.Upload(q.Device(), PaddingIndexes(spans.QStart, spans.QLen, rows, 0))
		p := s.NewPadding(spans.QStart, spans.QLen, rows, 0, all[0])
		return NewLayout(p, p)
	}
	qRows, kRows := q.Dim(0), k.Dim(0)
	all := s.Upload(q.Device(), PaddingIndexes(spans.QStart, spans.QLen, qRows, 0), PaddingIndexes(spans.KStart, spans.KLen, kRows, 0))
	return NewLayout(s.NewPadding(spans.QStart, spans.QLen, qRows, 0, all[0]), s.NewPadding(spans.KStart, spans.KLen, kRows, 0, all[1]))
}

// packedByLayout is PackedAttention of libtorch's operations, over a padded batch.
func (s *Scope) packedByLayout(op string, q, k, v, bias *Tensor, spans Spans, o AttentionOptions) *Tensor {
	l := spans.Layout
	if l == nil {
		l = s.layoutOf(q, k, spans)
	}
	width := q.Dim(-1)
	if o.Heads <= 0 || width%o.Heads != 0 || k.Dim(-1) != width || v.Dim(-1) != width || k.Dim(0) != v.Dim(0) {
		fail(op, "widths of q, k and v do not fit the heads", []*Tensor{q, k, v})
	}
	if q.Dim(0) != l.q.rows || k.Dim(0) != l.k.rows {
		Failf(op, "%s and %s do not fit a layout of %d and %d rows", q, k, l.q.rows, l.k.rows)
	}
	if !l.q.unique {
		Failf(op, "rows of q that no sequence has, or several, are not supported on a card or in F16")
	}
	d := width / o.Heads
	packed := native.PackedOptions{N: l.q.n, M: l.q.most, L: l.k.most, Heads: o.Heads, Scale: o.Scale, Dropout: o.Dropout,
		Fused: native.FusedFits(q.n(op), d)}
	// Without a bias the kernel takes sequences as they lie.
	if packed.Fused && bias == nil && l.q.ends != nil && l.k.ends != nil {
		packed.QEnds, packed.KEnds, packed.Causal = l.q.ends.n(op), l.k.ends.n(op), o.Causal
	}
	for first, in := 0, []*Tensor{q, k, v}; first < 3; {
		count, step := sideBySide(op, in[first:], width, d)
		if first == 0 && l.q != l.k {
			count = 1
		}
		p := l.q
		if first > 0 {
			p = l.k
		}
		part := native.Part{Count: count, Step: step, Pad: p.pad.n(op), Back: p.back.n(op)}
		if !packed.Fused {
			part.Pad, part.Back = p.index(op, o.Heads, count, step).n(op), p.index(op, o.Heads, count, 0).n(op)
		}
		if !p.unique {
			part.Back = nil
		}
		packed.Parts = append(packed.Parts, part)
		first += int(count)
	}
	packed.Out = l.q.back.n(op)
	if !packed.Fused {
		packed.Out = l.q.index(op, o.Heads, 1, 0).n(op)
	}
	if packed.QEnds == nil {
		packed.Bias = l.bias(op, bias, o.Heads, o.Causal, q).n(op)
	}
	if !q.Device().IsCUDA() && o.Dropout > 0 { // a card is seeded once for a step
		must(op, native.Seed(-1, o.RNG.keyFor(o.Dropout)))
	}
	out, msg := native.PackedAttention(q.n(op), k.n(op), v.n(op), packed)
	return s.ownNative(op, out, msg, q, k, v, bias)
}

// sideBySide is how many of all, from the first on, are neighbouring columns of one matrix,
// and how many lines of d its rows are apart.
func sideBySide(op string, all []*Tensor, width, d int64) (count, step int64) {
	var first native.Place
	for i, t := range all {
		p, msg := native.PlaceOf(t.n(op))
		must(op, msg, all...)
		if i == 0 {
			first = p
			if p.Column != 1 || p.Row%d != 0 {
				return 1, width / d // it will be copied
			}
			continue
		}
		if p.Memory != first.Memory || p.Row != first.Row || p.Column != 1 || p.Offset != first.Offset+int64(i)*width || all[i].Dim(0) != all[0].Dim(0) {
			return int64(i), first.Row / d
		}
	}
	return int64(len(all)), first.Row / d
}

// Pair is a view of two matrices [rows, columns] that lie alike in one memory, a before b, as
// parts of a product do: [2, rows, columns]. Of others it is nil.
func (s *Scope) Pair(a, b *Tensor) *Tensor {
	const op = "Pair"
	var at [2]native.Place
	for i, t := range []*Tensor{a, b} {
		p, msg := native.PlaceOf(t.n(op))
		must(op, msg, a, b)
		at[i] = p
	}
	step := at[1].Offset - at[0].Offset
	if at[0].Memory != at[1].Memory || at[0].Row != at[1].Row || at[0].Column != at[1].Column || step <= 0 ||
		!slices.Equal(a.Shape(), b.Shape()) || a.DType() != b.DType() {
		return nil
	}
	var out lib.Ctensor
	shape, strides := append([]int64{2}, a.Shape()...), []int64{step, at[0].Row, at[0].Column}
	lib.AtgAsStrided(&out, a.use(op), shape, len(shape), strides, len(strides), at[0].Offset, 0)
	return s.own(op, out, a, b)
}

// BatchAttention is softmax(scale·q·kᵀ + bias)·v per head, of a padded batch: q [n, m, heads*d],
// k and v [n, l, heads*d] -> [n, m, heads*d]. The bias, nil or of a shape that broadcasts to
// [n, heads, m, l], holds masks too, as large negative numbers. On a card in half precision it
// is libtorch's memory-efficient kernel, which copies no bias in q's type whose rows, but for
// the last dimension, lie a multiple of 16 numbers apart.
func (s *Scope) BatchAttention(q, k, v, bias *Tensor, o AttentionOptions) *Tensor {
	const op = "BatchAttention"
	if o.Causal {
		Failf(op, "masks are in the bias")
	}
	if o.Heads <= 0 {
		Failf(op, "%d heads", o.Heads)
	}
	fused := native.FusedFits(q.n(op), q.Dim(-1)/o.Heads)
	out, msg := native.BatchAttention(q.n(op), k.n(op), v.n(op), bias.optional(op), o.Heads, o.Scale, o.Dropout, fused)
	return s.ownNative(op, out, msg, q, k, v, bias)
}

// Spans says where sequences lie in packed rows: sequence i has QLen[i] rows of q
// from row QStart[i] on, and KLen[i] rows of k and v from row KStart[i] on. All
// four are equally long. Spans of k may be shared by several sequences outside of
// training.
type Spans struct {
	QStart, QLen, KStart, KLen []int64
	Layout                     *Layout // of the same sequences, on a card or in F16; nil: made for each call, by an upload
}

// AttentionOptions are what PackedAttention takes beside tensors.
type AttentionOptions struct {
	Heads   int64
	Scale   float64 // of the scores; T5 has 1, BERT 1/√d
	Causal  bool    // query i of m sees keys 0 … i+n-m
	Dropout float64 // of the probabilities
	RNG     *RNG    // needed where Dropout is not 0, but for a card's (SeedDevice)
}

// PackedAttention is softmax(scale·q·kᵀ + bias)·v per head, of sequences without
// padding: q [Tq, heads*d], k and v [Tk, heads*d] -> [Tq, heads*d]. The bias, nil
// or [heads, >=m, >=n], is added to the scores of every sequence, from its upper
// left corner.
func (s *Scope) PackedAttention(q, k, v, bias *Tensor, spans Spans, o AttentionOptions) *Tensor {
	const op = "PackedAttention"
	if !q.plain() {
		return s.packedByLayout(op, q, k, v, bias, spans, o)
	}
	out, msg := native.Attention(q.n(op), k.n(op), v.n(op), bias.optional(op), native.Spans{QStart: spans.QStart, QLen: spans.QLen, KStart: spans.KStart, KLen: spans.KLen}, native.AttentionOptions{
		Heads: o.Heads, Scale: o.Scale, Causal: o.Causal, Dropout: o.Dropout, Key: o.RNG.keyFor(o.Dropout)})
	return s.ownNative(op, out, msg, q, k, v, bias)
}
