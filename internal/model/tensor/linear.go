package tensor

// #include <stdlib.h>
// #include "native/native.h"
// #include "native/composed.h"
import "C"

import "unsafe"

// RMSNorm is x / √(mean(x²)+eps) * w over the last dimension: T5's layer norm. The mean is taken in float32.
func (s *Scope) RMSNorm(x, w *Tensor, eps float64) *Tensor { return s.rmsNorm("RMSNorm", x, w, eps, 0) }

// RMSNormBF16 is RMSNorm of F32 on a CPU, rounded to BF16 in the same pass.
func (s *Scope) RMSNormBF16(x, w *Tensor, eps float64) *Tensor {
	return s.rmsNorm("RMSNormBF16", x, w, eps, 1)
}

func (s *Scope) rmsNorm(op string, x, w *Tensor, eps float64, rounded C.int) *Tensor {
	return s.native(op, func(out *handle) *C.char { return C.redsi_rms_norm(out, x.n(op), w.n(op), C.double(eps), rounded) }, x, w)
}

// Linear is x·wᵀ: [..., in] x [out, in] -> [..., out].
func (s *Scope) Linear(x, w *Tensor) *Tensor { return s.linear("Linear", x, w, nil) }

// LinearBias is x·wᵀ + b, b of shape [out].
func (s *Scope) LinearBias(x, w, b *Tensor) *Tensor {
	b.use("LinearBias")
	return s.linear("LinearBias", x, w, b)
}

func (s *Scope) linear(op string, x, w, b *Tensor) *Tensor {
	return s.native(op, func(out *handle) *C.char { return C.redsi_linear(out, x.n(op), w.n(op), b.optional(op)) }, x, w, b)
}

// PackRows is w [out, in], F32 on a CPU, as LinearPacked takes it: a copy. There is one where SameForAnyRows; of BF16 where
// MultipliesBF16 too.
func (s *Scope) PackRows(w *Tensor) *Tensor {
	const op = "PackRows"
	return s.native(op, func(out *handle) *C.char { return C.redsi_pack_rows(out, w.n(op)) }, w)
}

// LinearPacked is LinearBias, or Linear where b is nil, of a w [n, in] that PackRows packed, with the same bytes and without
// gradients. Packing takes as long as the product of some twenty rows. By a w of BF16 an x of F32 or BF16 is rounded to BF16; b and the
// result are F32, and so are sums, in one order whatever rows are beside a row.
func (s *Scope) LinearPacked(x, packed *Tensor, n int64, b *Tensor) *Tensor {
	const op = "LinearPacked"
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_packed_linear(out, x.n(op), packed.n(op), C.int64_t(n), b.optional(op))
	}, x, packed, b)
}

// PackBF16 is w [out, in] in BF16, in the order in which a CPU with instructions for BF16 multiplies by it: only
// LinearPackedBF16 reads it. On a CPU without them, and on a card, it is w in BF16.
func (s *Scope) PackBF16(w *Tensor) *Tensor {
	const op = "PackBF16"
	if w.Device().IsCUDA() || !MultipliesBF16() {
		return s.ToDType(w, BF16)
	}
	return s.native(op, func(out *handle) *C.char { return C.redsi_pack_bf16(out, w.n(op)) }, w)
}

// LinearPackedBF16 is LinearBias of BF16 by a matrix of PackBF16, followed by an activation of a name that ActivationOf knows, or by
// the sum with a residual of the result's shape: the one is "" or the other nil. On processors that MultipliesBF16 names, what follows is
// computed of the product's float32 sums.
func (s *Scope) LinearPackedBF16(x, w, b, residual *Tensor, activation string) *Tensor {
	const op = "LinearPackedBF16"
	name := C.CString(activation)
	defer C.free(unsafe.Pointer(name))
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_packed_linear_bf16(out, x.n(op), w.n(op), b.n(op), residual.optional(op), name)
	}, x, b, residual)
}

// LinearWide is Linear of F16 or BF16, as F32: sums that are beyond what F16 has numbers for are right.
func (s *Scope) LinearWide(x, w *Tensor) *Tensor {
	const op = "LinearWide"
	return s.native(op, func(out *handle) *C.char { return C.redsi_wide_linear(out, x.n(op), w.n(op)) }, x, w)
}

// HeadOptions are the options of HeadLoss for a card, or F16.
type HeadOptions struct {
	// Scale, nil or a tensor of one F32 number, multiplies the result: in half precision its gradients
	// have it in them before they are rounded to F16, where they would be lost without.
	Scale *Tensor
	// Last says that Gradients are asked for of the result itself, not of something computed from it. Otherwise w's are
	// multiplied by the gradient once more, on a card.
	Last bool
}

// HeadLoss is CrossEntropy(h·wᵀ, labels) without ever holding all logits: h [n, d],
// w [V, d], labels I64 [n]. Its gradients are computed along with it. Smooth of each
// label's weight is spread evenly over all V, as torch's label_smoothing has it.
//
// On a card, or in F16, it holds the logits and their logarithms of as many rows as fill 256 MB, and the host does not
// wait. Its gradients are of h's type; the sum of w's over the slices is in that type too, on a CPU in BF16 too.
func (s *Scope) HeadLoss(h, w, labels *Tensor, ignore int64, smooth float64, o HeadOptions) *Tensor {
	const op = "HeadLoss"
	plain := h.plain()
	loss := s.native(op, func(out *handle) *C.char {
		if plain {
			return C.redsi_head_loss(out, h.n(op), w.n(op), labels.n(op), C.int64_t(ignore), C.double(smooth))
		}
		return C.redsi_head_slices(out, h.n(op), w.n(op), labels.n(op), C.int64_t(ignore), C.double(smooth), o.Scale.optional(op), C.int(flag(o.Last)))
	}, h, w, labels)
	if plain && o.Scale != nil {
		return s.Mul(loss, o.Scale)
	}
	return loss
}
