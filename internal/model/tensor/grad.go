package tensor

// #include "native/autograd.h"
import "C"

import (
	"slices"

	lib "github.com/sugarme/gotch/libtch"
)

// NoGrad runs f without recording operations for gradients, on this thread.
func NoGrad(f func()) {
	before := lib.AtGradSetEnabled(0)
	defer lib.AtGradSetEnabled(before & 1)
	f()
}

// Leaf makes t a leaf whose gradient Gradients can be asked for.
func (s *Scope) Leaf(t *Tensor) {
	var out lib.Ctensor
	lib.AtgSetRequiresGrad(&out, t.use("Leaf"), 1)
	s.inPlace("Leaf", out, t)
}

// Detach is t cut off from what computed it, sharing memory.
func (s *Scope) Detach(t *Tensor) *Tensor { return s.unary("Detach", lib.AtgDetach, t) }

// Gradients is the gradient of loss, a scalar, with respect to each of the leaves, and frees the recorded operations. A
// leaf that loss does not depend on has a nil gradient. Nothing is accumulated: there is no hidden .grad.
func (s *Scope) Gradients(loss *Tensor, leaves []*Tensor) []*Tensor {
	if !loss.RequiresGrad() {
		Failf("Gradients", "%s was computed without recording operations", loss)
	}
	var grads []*Tensor
	Within(func(inner *Scope) {
		one := inner.Full(1, loss.DType(), loss.Device(), loss.Shape()...)
		grads = s.Backward([]*Tensor{loss}, []*Tensor{one}, leaves)
	})
	return grads
}

// Backward is Gradients of several results: the gradient of the sum of outs, times grads of their
// shapes, with respect to each of the leaves.
func (s *Scope) Backward(outs, grads, leaves []*Tensor) []*Tensor {
	const op = "Backward"
	if len(outs) == 0 || len(leaves) == 0 {
		return make([]*Tensor, len(leaves))
	}
	results, by, n := pairs(op, outs, grads)
	to, m := list(op, leaves)
	all, out := make([]handle, m), make([]*Tensor, m)
	must(op, C.redsi_backward(results, by, n, to, m, &all[0]), slices.Concat(outs, grads)...)
	for i, c := range all {
		if c != nil {
			out[i] = s.own(op, lib.Ctensor(c), leaves[i])
		}
	}
	return out
}
