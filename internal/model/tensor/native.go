package tensor

import (
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// ownNative takes the result of an operation of package native.
func (s *Scope) ownNative(op string, c native.Tensor, msg string, operands ...*Tensor) *Tensor {
	must(op, msg, operands...)
	return s.own(op, lib.Ctensor(c), operands...)
}

// SetNumThreads sets how many threads one operation may use, for the process: in
// this Run, and in every one that begins later, on whichever OS thread.
// It may be called at any time: what runs continues with the number that it began with. Where not
// SameForAnyThreads, results of matrix products may differ in the last bit between numbers.
func SetNumThreads(n int) { native.SetNumThreads(n) }

// NumThreads is how many threads one operation uses.
func NumThreads() int { return native.NumThreads() }

// SameForAnyThreads reports whether what is computed on this processor has the same
// bytes for any number of threads: on Intel's with AVX2 or later, where MKL promises it, and
// on AMD's with AVX-512, where products are our own.
func SameForAnyThreads() bool { return native.SameForAnyThreads() }

// Version is libtorch's version, "2.11.0" for example.
func Version() string { return native.Version() }

// CPUCapability is the instruction set that libtorch computes with on this processor,
// "AVX512" or "AVX2" for example; ATEN_CPU_CAPABILITY may ask for less than there is.
func CPUCapability() string { return native.CPUCapability() }

func float32s(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// Dropout is t with each element set to zero with probability p and the others
// divided by 1-p; t itself where p is 0. On a card what is drawn follows SeedDevice.
func (s *Scope) Dropout(t *Tensor, p float64, rng *RNG) *Tensor {
	if p == 0 {
		return t
	}
	out, msg := native.Dropout(t.n("Dropout"), nil, p, rng.key())
	return s.ownNative("Dropout", out, msg, t)
}

// AddDropout is residual + Dropout(t), of the same shape, in one pass.
func (s *Scope) AddDropout(residual, t *Tensor, p float64, rng *RNG) *Tensor {
	out, msg := native.Dropout(t.n("AddDropout"), residual.n("AddDropout"), p, rng.keyFor(p))
	return s.ownNative("AddDropout", out, msg, residual, t)
}

// ReluDropout is Dropout(max(t, 0)) in one pass.
func (s *Scope) ReluDropout(t *Tensor, p float64, rng *RNG) *Tensor {
	out, msg := native.ReluDropout(t.n("ReluDropout"), p, rng.keyFor(p))
	return s.ownNative("ReluDropout", out, msg, t)
}

// RMSNorm is x / √(mean(x²)+eps) * w over the last dimension: T5's layer norm.
// The mean is taken in float32.
func (s *Scope) RMSNorm(x, w *Tensor, eps float64) *Tensor {
	out, msg := native.RMSNorm(x.n("RMSNorm"), w.n("RMSNorm"), eps)
	return s.ownNative("RMSNorm", out, msg, x, w)
}

// Linear is x·wᵀ: [..., in] x [out, in] -> [..., out].
func (s *Scope) Linear(x, w *Tensor) *Tensor {
	out, msg := native.Linear(x.n("Linear"), w.n("Linear"), nil)
	return s.ownNative("Linear", out, msg, x, w)
}

// LinearBias is x·wᵀ + b, b of shape [out].
func (s *Scope) LinearBias(x, w, b *Tensor) *Tensor {
	out, msg := native.Linear(x.n("LinearBias"), w.n("LinearBias"), b.n("LinearBias"))
	return s.ownNative("LinearBias", out, msg, x, w, b)
}

// LinearWide is Linear of F16 or BF16, as F32: sums that are beyond what F16 has numbers for are right.
func (s *Scope) LinearWide(x, w *Tensor) *Tensor {
	out, msg := native.WideLinear(x.n("LinearWide"), w.n("LinearWide"))
	return s.ownNative("LinearWide", out, msg, x, w)
}

// Spans says where sequences lie in packed rows: sequence i has QLen[i] rows of q
// from row QStart[i] on, and KLen[i] rows of k and v from row KStart[i] on. All
// four are equally long. Spans of k may be shared by several sequences outside of
// training.
type Spans struct {
	QStart, QLen, KStart, KLen []int64
	Layout                     *Layout // of the same sequences, on a card; nil: made for each call, by an upload
}

// AttentionOptions are what PackedAttention takes beside tensors.
type AttentionOptions struct {
	Heads   int64
	Scale   float64 // of the scores; T5 has 1, BERT 1/√d
	Causal  bool    // query i of m sees keys 0 … i+n-m
	Dropout float64 // of the probabilities
	RNG     *RNG    // needed where Dropout is not 0, but for a card's (SeedDevice)

	form form // on a card
}

// PackedAttention is softmax(scale·q·kᵀ + bias)·v per head, of sequences without
// padding: q [Tq, heads*d], k and v [Tk, heads*d] -> [Tq, heads*d]. The bias, nil
// or [heads, >=m, >=n], is added to the scores of every sequence, from its upper
// left corner.
func (s *Scope) PackedAttention(q, k, v, bias *Tensor, spans Spans, o AttentionOptions) *Tensor {
	const op = "PackedAttention"
	if q.onCard() {
		return s.packedOnCard(op, q, k, v, bias, spans, o)
	}
	out, msg := native.Attention(q.n(op), k.n(op), v.n(op), bias.optional(op), native.Spans{QStart: spans.QStart, QLen: spans.QLen, KStart: spans.KStart, KLen: spans.KLen}, native.AttentionOptions{
		Heads: o.Heads, Scale: o.Scale, Causal: o.Causal, Dropout: o.Dropout, Key: o.RNG.keyFor(o.Dropout)})
	return s.ownNative(op, out, msg, q, k, v, bias)
}

// HeadOptions are what of HeadLoss is for a card.
type HeadOptions struct {
	// Scale, nil or a tensor of one F32 number, multiplies the result: on a card its gradients
	// have it in them before they are rounded to F16, where they would be lost without.
	Scale *Tensor
	// Last says that Gradients are asked for of the result itself, not of what is computed from
	// it. Of one that is not, w's are multiplied by the gradient once more, on a card.
	Last bool
}

// HeadLoss is CrossEntropy(h·wᵀ, labels) without ever holding all logits: h [n, d],
// w [V, d], labels I64 [n]. Its gradients are computed along with it. Smooth of each
// label's weight is spread evenly over all V, as torch's label_smoothing has it.
//
// On a card it holds the logits and their logarithms of as many rows as fill 256 MB, and
// nothing waits. Its gradients are of h's type, w's being added up in it over the slices.
func (s *Scope) HeadLoss(h, w, labels *Tensor, ignore int64, smooth float64, o HeadOptions) *Tensor {
	const op = "HeadLoss"
	if h.onCard() {
		out, msg := native.HeadSlices(h.n(op), w.n(op), labels.n(op), ignore, smooth, o.Scale.optional(op), o.Last)
		return s.ownNative(op, out, msg, h, w, labels)
	}
	out, msg := native.HeadLoss(h.n(op), w.n(op), labels.n(op), ignore, smooth)
	loss := s.ownNative(op, out, msg, h, w, labels)
	if o.Scale != nil {
		return s.Mul(loss, o.Scale)
	}
	return loss
}

// AdafactorOptions are the numbers of one update; package adafactor says what they mean.
type AdafactorOptions = native.AdafactorOptions

// AdafactorInPlace updates p with its gradient g. The running means of squares are
// row and col of a matrix, full of a vector, and change too; the others are nil.
func (s *Scope) AdafactorInPlace(p, g, row, col, full *Tensor, o AdafactorOptions) {
	const op = "AdafactorInPlace"
	must(op, native.Adafactor(p.n(op), g.n(op), row.optional(op), col.optional(op), full.optional(op), o), p, g, row, col, full)
}

// AdamWOptions are the numbers of one update; package adamw says what they mean.
type AdamWOptions = native.AdamWOptions

// AdamWInPlace updates p with its gradient g. The running means of g and of its squares
// change too.
func (s *Scope) AdamWInPlace(p, g, mean, square *Tensor, o AdamWOptions) {
	const op = "AdamWInPlace"
	must(op, native.AdamW(p.n(op), g.n(op), mean.n(op), square.n(op), o), p, g, mean, square)
}

// SquareSum is the sum of the squares of t's elements; on a CPU the same for any number
// of threads.
func (s *Scope) SquareSum(t *Tensor) float64 {
	const op = "SquareSum"
	sum, msg := native.SquareSum(t.n(op))
	must(op, msg, t)
	return sum
}

// AddRowsInPlace is to[index[i]] += from[i]: to [n, d], index I64 [m], from [m, d]. On a card
// too sums have one order: rows are sorted by their index first.
func (s *Scope) AddRowsInPlace(to, index, from *Tensor) {
	const op = "AddRowsInPlace"
	must(op, native.AddRows(to.n(op), index.n(op), from.n(op)), to, index, from)
}

func (t *Tensor) n(op string) native.Tensor { return native.Tensor(t.use(op)) }
