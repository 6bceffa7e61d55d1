//go:build !notorch

package seq2seq

import (
	"fmt"

	"github.com/redsi/redsi/internal/tensor"
)

// Ignore is the label that the loss leaves out (transformers' -100).
const Ignore = -100

// Batch is what one training step sees: Inputs[i] are a sequence's tokens, with
// its end token, and Labels[i] the tokens to be written, with theirs. Neither has
// padding; a label may be Ignore.
type Batch struct{ Inputs, Labels [][]int32 }

// shift is transformers' shift_tokens_right: the decoder reads the start token and all
// labels but the last; an ignored label is read as padding.
func (m *Model) shift(labels Sequences) Sequences {
	of, in := m.Vocabulary(), labels
	in.ids = make([]int64, len(labels.ids))
	for i, start := range labels.Start {
		in.ids[start] = of.Start
		copy(in.ids[start+1:start+labels.Len[i]], labels.ids[start:])
	}
	for i, id := range in.ids {
		if id == Ignore {
			in.ids[i] = of.Pad
		}
	}
	return in
}

func (b Batch) packed() (inputs, labels Sequences) {
	if len(b.Inputs) == 0 || len(b.Inputs) != len(b.Labels) {
		tensor.Failf("model", "a batch of %d inputs and %d labels", len(b.Inputs), len(b.Labels))
	}
	return pack(b.Inputs), pack(b.Labels)
}

// Loss is the mean cross entropy over the labels, a scalar, without dropout and
// without gradients.
func (m *Model) Loss(b Batch) (loss float64, err error) {
	err = tensor.Run(func(s *tensor.Scope) {
		tensor.NoGrad(func() {
			states, labels := m.teach(s, b)
			loss = m.headLoss(s, states, labels, 0).Item()
		})
	})
	return loss, err
}

// ForcedLogits are the scores of all tokens at each label position, teacher forced,
// without dropout: [sum of label lengths, Size], in the batch's order.
func (m *Model) ForcedLogits(s *tensor.Scope, b Batch) (logits *tensor.Tensor) {
	tensor.NoGrad(func() {
		states, _ := m.teach(s, b)
		logits = m.pass(s, nil).Linear(states, m.net.Head(s))
	})
	return logits
}

// teach gives the decoder's states at each label position [T, w], without dropout.
func (m *Model) teach(s *tensor.Scope, b Batch) (states *tensor.Tensor, labels Sequences) {
	inputs, labels := b.packed()
	read := m.shift(labels)
	return m.forced(m.pass(s, nil), m.embed(s, inputs.ids), m.embed(s, read.ids), inputs, read), labels
}

func (m *Model) headLoss(s *tensor.Scope, states *tensor.Tensor, labels Sequences, smooth float64) *tensor.Tensor {
	head := m.net.Head(s)
	if m.Compute != tensor.F32 {
		states, head = s.ToDType(states, m.Compute), s.ToDType(head, m.Compute)
	}
	return s.HeadLoss(states, head, s.FromInt64s(labels.ids, m.Device, int64(len(labels.ids))), Ignore, smooth, tensor.HeadOptions{})
}

// Gradients is one forward and backward pass with dropout drawn from rng (nil: no
// dropout): the mean loss over the labels, smoothed by Smoothing, and the gradient of
// scale times it with
// respect to every parameter, in the order of Params and owned by s.
func (m *Model) Gradients(s *tensor.Scope, b Batch, rng *tensor.RNG, scale float64) (loss float64, grads []*tensor.Tensor) {
	grads = make([]*tensor.Tensor, len(m.params))
	tensor.Within(func(inner *tensor.Scope) {
		inputs, labels := b.packed()
		read := m.shift(labels)
		// The embedded tokens are leaves of their own: their gradients are added to
		// the head's in place, instead of as two more matrices of its size.
		var in, out *tensor.Tensor
		tensor.NoGrad(func() { in, out = m.embed(inner, inputs.ids), m.embed(inner, read.ids) })
		inner.Leaf(in)
		inner.Leaf(out)

		states := m.forced(m.pass(inner, rng), in, out, inputs, read)
		value := m.headLoss(inner, states, labels, m.Smoothing)
		loss = value.Item()

		leaves := []*tensor.Tensor{in, out}
		for _, p := range m.params {
			leaves = append(leaves, p.Tensor)
		}
		embedding := m.net.Embedding()
		all := inner.Gradients(inner.Scale(value, scale), leaves)
		for i, g := range all[2:] {
			if g == nil && m.params[i].Tensor == embedding { // an untied head
				g = inner.Zeros(tensor.F32, m.Device, embedding.Shape()...)
			}
			if g == nil {
				tensor.Failf("model", "%s has no gradient", m.params[i].Name)
			}
			if m.params[i].Tensor == embedding {
				inner.AddRowsInPlace(g, inner.FromInt64s(inputs.ids, m.Device, int64(len(inputs.ids))), all[0])
				inner.AddRowsInPlace(g, inner.FromInt64s(read.ids, m.Device, int64(len(read.ids))), all[1])
			}
			grads[i] = s.Move(g)
		}
	})
	return loss, grads
}

// CheckTokens says which token of a batch the vocabulary does not have; for input
// that comes from a file.
func (v Vocabulary) CheckTokens(b Batch) error {
	for _, side := range []struct {
		name      string
		sequences [][]int32
	}{{"input", b.Inputs}, {"label", b.Labels}} {
		for i, ids := range side.sequences {
			for j, id := range ids {
				if (id < 0 || int64(id) >= v.Size) && !(id == Ignore && side.name == "label") {
					return fmt.Errorf("%s %d: token %d at %d is outside of the vocabulary of %d", side.name, i, id, j, v.Size)
				}
			}
		}
	}
	return nil
}
