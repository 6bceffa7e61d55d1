package tensor

import "github.com/redsi/redsi/internal/model/tensor/native"

// RMSNorm is x / √(mean(x²)+eps) * w over the last dimension: T5's layer norm.
// The mean is taken in float32.
func (s *Scope) RMSNorm(x, w *Tensor, eps float64) *Tensor {
	return s.rmsNorm("RMSNorm", x, w, eps, false)
}

// RMSNormBF16 is RMSNorm of F32 on a CPU, rounded to BF16 in the same pass.
func (s *Scope) RMSNormBF16(x, w *Tensor, eps float64) *Tensor {
	return s.rmsNorm("RMSNormBF16", x, w, eps, true)
}

func (s *Scope) rmsNorm(op string, x, w *Tensor, eps float64, rounded bool) *Tensor {
	out, msg := native.RMSNorm(x.n(op), w.n(op), eps, rounded)
	return s.ownNative(op, out, msg, x, w)
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

// PackRows is w [out, in], F32 on a CPU, as LinearPacked takes it: a copy. There is one where SameForAnyRows; of BF16 where
// MultipliesBF16 too.
func (s *Scope) PackRows(w *Tensor) *Tensor {
	out, msg := native.PackRows(w.n("PackRows"))
	return s.ownNative("PackRows", out, msg, w)
}

// LinearPacked is LinearBias, or Linear where b is nil, of a w [n, in] that PackRows packed, with the same bytes and without
// gradients. Packing takes as long as the product of some twenty rows. By a w of BF16 an x of F32 or BF16 is rounded to BF16; b and the
// result are F32, and so are sums, in one order whatever rows are beside a row.
func (s *Scope) LinearPacked(x, packed *Tensor, n int64, b *Tensor) *Tensor {
	out, msg := native.PackedLinear(x.n("LinearPacked"), packed.n("LinearPacked"), n, b.optional("LinearPacked"))
	return s.ownNative("LinearPacked", out, msg, x, packed, b)
}

// PackBF16 is w [out, in] in BF16, in the order in which a CPU with instructions for BF16 multiplies by it: LinearPackedBF16 alone
// reads it. A CPU without them, or a card, has it in BF16 as it is.
func (s *Scope) PackBF16(w *Tensor) *Tensor {
	const op = "PackBF16"
	if w.Device().IsCUDA() || !MultipliesBF16() {
		return s.ToDType(w, BF16)
	}
	out, msg := native.PackBF16(w.n(op))
	return s.ownNative(op, out, msg, w)
}

// LinearPackedBF16 is LinearBias of BF16 by a matrix of PackBF16, followed by an activation of a name that ActivationOf knows, or by
// the sum with a residual of the result's shape: the one is "" or the other nil. On processors that MultipliesBF16 names, what follows is
// computed of the product's float32 sums.
func (s *Scope) LinearPackedBF16(x, w, b, residual *Tensor, activation string) *Tensor {
	const op = "LinearPackedBF16"
	out, msg := native.PackedLinearBF16(x.n(op), w.n(op), b.n(op), residual.optional(op), activation)
	return s.ownNative(op, out, msg, x, b, residual)
}

// LinearWide is Linear of F16 or BF16, as F32: sums that are beyond what F16 has numbers for are right.
func (s *Scope) LinearWide(x, w *Tensor) *Tensor {
	out, msg := native.WideLinear(x.n("LinearWide"), w.n("LinearWide"))
	return s.ownNative("LinearWide", out, msg, x, w)
}
