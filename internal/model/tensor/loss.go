package tensor

import "github.com/redsi/redsi/internal/model/tensor/native"

// HeadOptions are what of HeadLoss is for a card, or F16.
type HeadOptions struct {
	// Scale, nil or a tensor of one F32 number, multiplies the result: in half precision its gradients
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
// On a card, or in F16, it holds the logits and their logarithms of as many rows as fill 256 MB, and
// nothing waits. Its gradients are of h's type, w's being added up in it over the slices, on a CPU
// in BF16 too.
func (s *Scope) HeadLoss(h, w, labels *Tensor, ignore int64, smooth float64, o HeadOptions) *Tensor {
	const op = "HeadLoss"
	if !h.plain() {
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
