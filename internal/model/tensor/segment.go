package tensor

import (
	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// Backward is Gradients of several results: the gradient of the sum of outs, times grads of their
// shapes, with respect to each of the leaves.
func (s *Scope) Backward(outs, grads, leaves []*Tensor) []*Tensor {
	const op = "Backward"
	if len(outs) != len(grads) {
		Failf(op, "%d results and %d gradients", len(outs), len(grads))
	}
	if len(outs) == 0 || len(leaves) == 0 {
		return make([]*Tensor, len(leaves))
	}
	all, msg := native.Backward(list(op, outs), list(op, grads), list(op, leaves))
	must(op, msg, append(append([]*Tensor(nil), outs...), grads...)...)
	out := make([]*Tensor, len(leaves))
	for i, c := range all {
		if c != nil {
			out[i] = s.own(op, lib.Ctensor(c), leaves[i])
		}
	}
	return out
}

// Split is t's parts of these sizes along dim, views of it. Their gradients are put together at once,
// where those of Narrow would be added up.
func (s *Scope) Split(t *Tensor, dim int64, sizes ...int64) []*Tensor {
	const op = "Split"
	parts, msg := native.Split(t.n(op), sizes, dim)
	must(op, msg, t)
	out := make([]*Tensor, len(parts))
	for i, c := range parts {
		out[i] = s.own(op, lib.Ctensor(c), t)
	}
	return out
}

// Place makes t, whose handle stays the same, lie where at does: its elements become those of at, and
// later changes of one are changes of the other. Gradients do not flow between them.
func Place(t, at *Tensor) {
	const op = "Place"
	must(op, native.PutAt(t.n(op), at.n(op)), t, at)
}

// AddAll is to[i] += from[i], on a card by few launches for all of them.
func (s *Scope) AddAll(to, from []*Tensor) {
	const op = "AddAll"
	if len(to) == 0 && len(from) == 0 {
		return
	}
	must(op, native.AddAll(list(op, to), list(op, from)), to...)
}
