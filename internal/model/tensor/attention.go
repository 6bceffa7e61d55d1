package tensor

// #include "native/native.h"
// #include "native/composed.h"
import "C"

import (
	"runtime"
	"slices"
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"
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

// bias is nil or a bias [heads, >=m, >=l] together with what is hidden from each query. It is computed once for all
// layers that give the same tensor, whose gradient is summed in its type.
func (l *Layout) bias(op string, bias *Tensor, heads int64, causal bool, q *Tensor) *Tensor {
	records := bias != nil && bias.RequiresGrad() && C.redsi_records() != 0
	want := maskBias{of: bias, heads: heads, dtype: q.DType(), causal: causal, records: records}
	have := l.last
	if have.combined != nil && have.combined.c != nil {
		want.combined = have.combined
		if have == want {
			return have.combined
		}
	}
	s, i, m, n := l.q.scope, flag(causal), C.int64_t(l.q.most), C.int64_t(l.k.most)
	if l.hidden[i] == nil {
		l.hidden[i] = s.native(op, func(out *handle) *C.char {
			return C.redsi_hidden(out, l.q.len.n(op), l.k.len.n(op), m, n, C.int(i))
		}, l.q.len, l.k.len)
	}
	if bias != nil {
		if shape := bias.Shape(); len(shape) != 3 || shape[0] != heads || shape[1] < l.q.most || shape[2] < l.k.most {
			Failf(op, "the bias %s is not [%d, >=%d, >=%d]", bias, heads, l.q.most, l.k.most)
		}
	}
	want.combined = s.native(op, func(out *handle) *C.char {
		return C.redsi_mask_bias(out, bias.optional(op), l.hidden[i].n(op), C.int64_t(heads), m, n, q.n(op))
	}, bias)
	Free(have.combined) // recorded operations keep what they need of it
	l.last = want
	return want.combined
}

// layoutOf is the layout of a batch without one: by an upload of its own.
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
	args := C.redsi_packed_args{n: C.int64_t(l.q.n), m: C.int64_t(l.q.most), l: C.int64_t(l.k.most), heads: C.int64_t(o.Heads),
		scale: C.double(o.Scale), dropout: C.double(o.Dropout), fused: C.redsi_fused_fits(q.n(op), C.int64_t(d))}
	fused := args.fused != 0
	// Without a bias the kernel takes sequences as they lie.
	if fused && bias == nil && l.q.ends != nil && l.k.ends != nil {
		args.q_ends, args.k_ends, args.causal = l.q.ends.n(op), l.k.ends.n(op), C.int(flag(o.Causal))
	}
	for first, in := 0, []*Tensor{q, k, v}; first < 3; args.parts++ {
		count, step := sideBySide(op, in[first:], width, d)
		if first == 0 && l.q != l.k {
			count = 1
		}
		p := l.q
		if first > 0 {
			p = l.k
		}
		pad, back, i := p.pad, p.back, args.parts
		if !fused {
			pad, back = p.index(op, o.Heads, count, step), p.index(op, o.Heads, count, 0)
		}
		args.count[i], args.step[i], args.pad[i] = C.int64_t(count), C.int64_t(step), pad.n(op)
		if p.unique { // else there can be no gradients
			args.back[i] = back.n(op)
		}
		first += int(count)
	}
	args.out = l.q.back.n(op)
	if !fused {
		args.out = l.q.index(op, o.Heads, 1, 0).n(op)
	}
	if args.q_ends == nil {
		args.bias = l.bias(op, bias, o.Heads, o.Causal, q).n(op)
	}
	if !q.Device().IsCUDA() && o.Dropout > 0 { // a card is seeded once for a step
		must(op, C.redsi_seed(-1, C.uint64_t(o.RNG.keyFor(o.Dropout))))
	}
	return s.native(op, func(out *handle) *C.char { return C.redsi_packed_attention(out, q.n(op), k.n(op), v.n(op), &args) }, q, k, v, bias)
}

// place is where the elements of a matrix lie: its memory, in elements from there its first
// one, and from one row to the next and from one column to the next.
type place struct {
	memory              unsafe.Pointer
	offset, row, column int64
}

func (t *Tensor) place(op string) (p place) {
	var offset, row, column C.int64_t
	must(op, C.redsi_place_of(t.n(op), &p.memory, &offset, &row, &column), t)
	p.offset, p.row, p.column = int64(offset), int64(row), int64(column)
	return p
}

// sideBySide is how many of all, from the first on, are neighbouring columns of one matrix,
// and how many lines of d its rows are apart.
func sideBySide(op string, all []*Tensor, width, d int64) (count, step int64) {
	first := all[0].place(op)
	if first.column != 1 || first.row%d != 0 {
		return 1, width / d // it will be copied
	}
	for i, t := range all[1:] {
		next := first
		next.offset += int64(i+1) * width
		if t.place(op) != next || t.Dim(0) != all[0].Dim(0) {
			return int64(i + 1), first.row / d
		}
	}
	return int64(len(all)), first.row / d
}

// Pair is a view of two matrices [rows, columns] that lie alike in one memory, a before b, as
// parts of a product do: [2, rows, columns]. Of others it is nil.
func (s *Scope) Pair(a, b *Tensor) *Tensor {
	const op = "Pair"
	first, second := a.place(op), b.place(op)
	step := second.offset - first.offset
	if second.offset = first.offset; first != second || step <= 0 || !slices.Equal(a.Shape(), b.Shape()) || a.DType() != b.DType() {
		return nil
	}
	var out lib.Ctensor
	shape, strides := append([]int64{2}, a.Shape()...), []int64{step, first.row, first.column}
	lib.AtgAsStrided(&out, a.use(op), shape, len(shape), strides, len(strides), first.offset, 0)
	return s.own(op, out, a, b)
}

// BatchAttention is softmax(scale·q·kᵀ + bias)·v per head, of a padded batch: q [n, m, heads*d], k and v [n, l,
// heads*d] -> [n, m, heads*d]. The bias, nil or of a shape that broadcasts to [n, heads, m, l], holds masks too, as
// large negative numbers. On a card in half precision it is libtorch's memory-efficient kernel. That kernel copies the
// bias unless it is of q's type and its rows, in all but the last dimension, lie a multiple of 16 numbers apart.
func (s *Scope) BatchAttention(q, k, v, bias *Tensor, o AttentionOptions) *Tensor {
	const op = "BatchAttention"
	if o.Causal {
		Failf(op, "masks are in the bias")
	}
	if o.Heads <= 0 {
		Failf(op, "%d heads", o.Heads)
	}
	heads, d := C.int64_t(o.Heads), C.int64_t(q.Dim(-1)/o.Heads)
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_batch_attention(out, q.n(op), k.n(op), v.n(op), bias.optional(op), heads, C.double(o.Scale), C.double(o.Dropout), C.redsi_fused_fits(q.n(op), d))
	}, q, k, v, bias)
}

// Spans says where sequences lie in packed rows: sequence i has QLen[i] rows of q from row QStart[i] on, and KLen[i]
// rows of k and v from row KStart[i] on. All four are equally long. Spans of k may be shared by several sequences
// outside of training.
type Spans struct {
	QStart, QLen, KStart, KLen []int64
	Layout                     *Layout // of the same sequences, on a card or in F16; nil: each call uploads its own
}

// AttentionOptions are what PackedAttention takes beside tensors.
type AttentionOptions struct {
	Heads   int64
	Scale   float64 // of the scores; T5 has 1, BERT 1/√d
	Causal  bool    // query i of m sees keys 0 … i+n-m
	Dropout float64 // of the probabilities
	RNG     *RNG    // needed where Dropout is not 0, except on a card (SeedDevice)
}

// PackedAttention is softmax(scale·q·kᵀ + bias)·v per head, of sequences without padding: q [Tq, heads*d],
// k and v [Tk, heads*d] -> [Tq, heads*d]. The bias, nil or [heads, >=m, >=n], is added to the scores of every
// sequence, from its upper left corner.
func (s *Scope) PackedAttention(q, k, v, bias *Tensor, spans Spans, o AttentionOptions) *Tensor {
	const op = "PackedAttention"
	if !q.plain() {
		return s.packedByLayout(op, q, k, v, bias, spans, o)
	}
	n := len(spans.QLen)
	if n == 0 || len(spans.QStart) != n || len(spans.KStart) != n || len(spans.KLen) != n {
		Failf(op, "no sequences, or arrays of different lengths")
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	first := func(a []int64) *C.int64_t {
		pin.Pin(&a[0])
		return (*C.int64_t)(&a[0])
	}
	args := C.redsi_attention_args{
		q_start: first(spans.QStart), q_len: first(spans.QLen), k_start: first(spans.KStart), k_len: first(spans.KLen),
		n: C.int64_t(n), heads: C.int64_t(o.Heads), scale: C.double(o.Scale), dropout: C.double(o.Dropout),
		key: C.uint64_t(o.RNG.keyFor(o.Dropout)), causal: C.int(flag(o.Causal)),
	}
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_attention(out, q.n(op), k.n(op), v.n(op), bias.optional(op), &args)
	}, q, k, v, bias)
}
