package tensor

import lib "github.com/sugarme/gotch/libtch"

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

// Gradients is the gradient of loss, a scalar, with respect to each of the leaves,
// and frees the recorded operations. A leaf that loss does not depend on has a nil
// gradient. Nothing is accumulated: there is no hidden .grad.
func (s *Scope) Gradients(loss *Tensor, leaves []*Tensor) []*Tensor {
	if len(leaves) == 0 {
		return nil
	}
	if !loss.RequiresGrad() { // libtorch's binding would die of it
		Failf("Gradients", "%s was computed without recording operations", loss)
	}
	roots := []lib.Ctensor{loss.use("Gradients")}
	in, out := make([]lib.Ctensor, len(leaves)), make([]lib.Ctensor, len(leaves))
	for i, t := range leaves {
		in[i] = t.use("Gradients")
	}
	lib.AtRunBackward(&roots[0], 1, &in[0], len(in), &out[0], 0, 0)
	check("Gradients", loss)
	grads := make([]*Tensor, len(leaves))
	for i, c := range out {
		if !lib.AtDefined(c) {
			lib.AtFree(c)
			continue
		}
		grads[i] = s.own("Gradients", c, leaves[i])
	}
	return grads
}
