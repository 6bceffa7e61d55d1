package seq2seq

import (
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// Gradients is one forward and backward pass with dropout drawn from rng (nil: no dropout): the mean loss over the
// labels, a scalar, smoothed by Smoothing, and the gradient of scale times it with respect to every parameter, in the
// order of Params; all owned by s. Gradients of matrices are of the compute type, except the embedding's; the host does
// not wait for a card.
func (m *Model) Gradients(s *tensor.Scope, b *Prepared, rng *tensor.RNG, scale Scale) (loss *tensor.Tensor, grads []*tensor.Tensor) {
	tensor.Within(func(inner *tensor.Scope) {
		numbers := inner.Upload(m.Device, b.Numbers)[0]
		if rng != nil {
			tensor.SeedDevice(m.Device, rng)
		}
		m.upToDate()
		loss, grads = m.GradientsAt(s, b, numbers, rng, scale)
	})
	return loss, grads
}

// GradientsAt is Gradients of a batch whose Numbers are in a vector on the model's device. The caller seeds what
// dropout draws there, and Refresh has copied the matrices. For two batches with the same Shapes a card is asked for
// the same operations.
func (m *Model) GradientsAt(s *tensor.Scope, b *Prepared, numbers *tensor.Tensor, rng *tensor.RNG, scale Scale) (loss *tensor.Tensor, grads []*tensor.Tensor) {
	grads = make([]*tensor.Tensor, len(m.Params))
	tensor.Within(func(inner *tensor.Scope) {
		at := b.in(inner, numbers)
		embedding, net := m.net.Embedding(), m.net
		p := m.pass(inner, rng)
		p.learns = true
		if m.Checkpoint {
			p.tape = &tape{}
		}
		// The embedded tokens are leaves of their own: their gradients are added to
		// the head's in place, instead of as two more matrices of its size.
		var in, out *tensor.Tensor
		tensor.NoGrad(func() {
			in, out = inner.IndexSelect(embedding, 0, at.inputs.tokens), inner.IndexSelect(embedding, 0, at.read.tokens)
		})
		inner.Leaf(in)
		inner.Leaf(out)
		leaves := []*tensor.Tensor{in, out}
		p.given = leaves
		if p.copies = m.copied(); p.copies != nil {
			net = p.copies.net
			leaves = append(leaves, p.copies.leaves(m.Params)...)
		} else {
			leaves = append(leaves, lists.Map(m.Params, func(p Param) *tensor.Tensor { return p.Tensor })...)
		}

		states := m.forced(p, net, in, out, at)
		mean, value := m.loss(inner, states, net.Head(), at, scale)
		loss = s.Move(mean)

		var all []*tensor.Tensor
		if p.tape != nil {
			all = p.backward(value, leaves)
		} else {
			all = inner.Gradients(value, leaves)
		}
		of := map[*tensor.Tensor]*tensor.Tensor{}
		for i, t := range leaves {
			of[t] = all[i]
		}
		for i := range m.Params {
			g := m.gradient(inner, p.copies, m.Params[i], of)
			if m.Params[i].Tensor == embedding {
				g = inner.ToDType(g, tensor.F32)
				inner.AddRowsInPlace(g, at.inputs.tokens, all[0])
				inner.AddRowsInPlace(g, at.read.tokens, all[1])
			}
			grads[i] = s.Move(g)
		}
	})
	return loss, grads
}

// gradient returns the gradient of a parameter, of the gradients of leaves.
func (m *Model) gradient(s *tensor.Scope, c *copies, param Param, of map[*tensor.Tensor]*tensor.Tensor) *tensor.Tensor {
	g := of[param.Tensor]
	if c != nil {
		if at, ok := c.of[param.Name]; ok {
			if g = of[at.t]; g != nil && len(at.parts) > 1 {
				g = s.Narrow(g, 0, at.first(), at.rows[at.at])
			}
		}
	}
	if g == nil && param.Tensor == m.net.Embedding() { // an untied head
		g = s.Zeros(tensor.F32, m.Device, param.Tensor.Shape()...)
	}
	if g == nil {
		tensor.Failf("model", "%s has no gradient", param.Name)
	}
	return g
}
