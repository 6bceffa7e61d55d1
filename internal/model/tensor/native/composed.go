package native

// #include <stdlib.h>
// #include "composed.h"
import "C"

import "unsafe"

// Seed seeds the generator that dropout on a device draws from; -1 is the CPU.
func Seed(device int, key uint64) (msg string) {
	return message(C.redsi_seed(C.int(device), C.uint64_t(key)))
}

// RandomState is what the generator draws next, as bytes on the CPU.
func RandomState(device int) (out Tensor, msg string) {
	msg = message(C.redsi_random_state(&out, C.int(device)))
	return out, msg
}

// SetRandomState goes back to it.
func SetRandomState(device int, state Tensor) (msg string) {
	return message(C.redsi_set_random_state(C.int(device), state))
}

// Place is where the elements of a matrix lie: its memory, in elements from there its first
// one, and from one row to the next and from one column to the next.
type Place struct {
	Memory              unsafe.Pointer
	Offset, Row, Column int64
}

// PlaceOf is the place of a matrix.
func PlaceOf(t Tensor) (p Place, msg string) {
	var offset, row, column C.int64_t
	msg = message(C.redsi_place_of(t, &p.Memory, &offset, &row, &column))
	p.Offset, p.Row, p.Column = int64(offset), int64(row), int64(column)
	return p, msg
}

// FusedFits reports whether attention of q, heads of d, would run in libtorch's
// memory-efficient kernel.
func FusedFits(q Tensor, d int64) bool { return C.redsi_fused_fits(q, C.int64_t(d)) != 0 }

// HeadLines is the index that makes [count, n, heads, most, d] of rows that are step lines
// of d apart; pad is the row of each place.
func HeadLines(pad Tensor, n, most, heads, count, step int64) (out Tensor, msg string) {
	msg = message(C.redsi_head_lines(&out, pad, C.int64_t(n), C.int64_t(most), C.int64_t(heads), C.int64_t(count), C.int64_t(step)))
	return out, msg
}

// HeadPlaces is the index that makes rows of [count, n, heads, most, d]; back is each row's place.
func HeadPlaces(back Tensor, n, most, heads, count int64) (out Tensor, msg string) {
	msg = message(C.redsi_head_places(&out, back, C.int64_t(n), C.int64_t(most), C.int64_t(heads), C.int64_t(count)))
	return out, msg
}

// Hidden is what no query sees: [n, 1, 1 or m, l].
func Hidden(qLen, kLen Tensor, m, l int64, causal bool) (out Tensor, msg string) {
	msg = message(C.redsi_hidden(&out, qLen, kLen, C.int64_t(m), C.int64_t(l), flag(causal)))
	return out, msg
}

// MaskBias is a bias, or nil, and what is hidden: [n, heads, 1 or m, l], as q's type has it.
func MaskBias(bias, hidden Tensor, heads, m, l int64, q Tensor) (out Tensor, msg string) {
	msg = message(C.redsi_mask_bias(&out, bias, hidden, C.int64_t(heads), C.int64_t(m), C.int64_t(l), q))
	return out, msg
}

// Records reports whether operations are recorded for gradients, on this thread.
func Records() bool { return C.redsi_records() != 0 }

// Part is some of q, k and v that lie side by side, Count of them, with rows Step lines apart.
type Part struct {
	Count, Step int64
	Pad, Back   Tensor // Back is nil where there can be no gradients
}

// PackedOptions are what PackedAttention takes beside tensors.
type PackedOptions struct {
	N, M, L, Heads int64
	Scale, Dropout float64
	Fused          bool
	Parts          []Part
	Out, Bias      Tensor // where results are put back from; the bias, or nil
	// Cumulative lengths (I32) of sequences that are not padded, and have no bias; or nil.
	QEnds, KEnds Tensor
	Causal       bool // of those
}

// PackedAttention is attention of packed rows over a padded batch.
func PackedAttention(q, k, v Tensor, o PackedOptions) (out Tensor, msg string) {
	args := C.redsi_packed_args{
		n: C.int64_t(o.N), m: C.int64_t(o.M), l: C.int64_t(o.L), heads: C.int64_t(o.Heads),
		scale: C.double(o.Scale), dropout: C.double(o.Dropout), fused: flag(o.Fused), parts: C.int(len(o.Parts)), out: o.Out, bias: o.Bias,
		q_ends: o.QEnds, k_ends: o.KEnds, causal: flag(o.Causal),
	}
	for i, p := range o.Parts {
		args.count[i], args.step[i], args.pad[i], args.back[i] = C.int64_t(p.Count), C.int64_t(p.Step), p.Pad, p.Back
	}
	msg = message(C.redsi_packed_attention(&out, q, k, v, &args))
	return out, msg
}

// BatchAttention is attention of a padded batch.
func BatchAttention(q, k, v, bias Tensor, heads int64, scale, dropout float64, fused bool) (out Tensor, msg string) {
	msg = message(C.redsi_batch_attention(&out, q, k, v, bias, C.int64_t(heads), C.double(scale), C.double(dropout), flag(fused)))
	return out, msg
}

// RelativeBias is table's rows of distances: [heads, most, most].
func RelativeBias(table, distances Tensor, most int64) (out Tensor, msg string) {
	msg = message(C.redsi_relative_bias(&out, table, distances, C.int64_t(most)))
	return out, msg
}

// HeadSlices is HeadLoss on a card, times scale where that is not nil. Of a last one gradients begin at it, by 1.
func HeadSlices(h, w, labels Tensor, ignore int64, smooth float64, scale Tensor, last bool) (out Tensor, msg string) {
	msg = message(C.redsi_head_slices(&out, h, w, labels, C.int64_t(ignore), C.double(smooth), scale, flag(last)))
	return out, msg
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
