//go:build !notorch

package t5

import (
	"fmt"

	"github.com/redsi/redsi/internal/tensor"
)

// Batch is what one training step sees: Inputs[i] are a sequence's tokens, with
// its end token, and Labels[i] the tokens to be written, with theirs. Neither has
// padding; a label may be Ignore.
type Batch struct{ Inputs, Labels [][]int32 }

// shift is transformers' _shift_right: the decoder reads the start token and all
// labels but the last; an ignored label is read as padding.
func (m *Model) shift(labels packed) packed {
	in := labels
	in.ids = make([]int64, len(labels.ids))
	for i, start := range labels.start {
		in.ids[start] = m.Config.DecoderStart
		copy(in.ids[start+1:start+labels.len[i]], labels.ids[start:])
	}
	for i, id := range in.ids {
		if id == Ignore {
			in.ids[i] = m.Config.PadToken
		}
	}
	return in
}

func (b Batch) packed() (inputs, labels packed) {
	if len(b.Inputs) == 0 || len(b.Inputs) != len(b.Labels) {
		tensor.Failf("T5", "a batch of %d inputs and %d labels", len(b.Inputs), len(b.Labels))
	}
	return pack(b.Inputs), pack(b.Labels)
}

// Loss is the mean cross entropy over the labels, a scalar, without dropout and
// without gradients.
func (m *Model) Loss(b Batch) (loss float64, err error) {
	err = tensor.Run(func(s *tensor.Scope) {
		tensor.NoGrad(func() {
			inputs, labels := b.packed()
			f := pass{Model: m, s: s}
			memory := f.encode(m.embed(s, inputs.ids), inputs)
			read := m.shift(labels)
			states := f.decode(m.embed(s, read.ids), read, memory, inputs) // [T, d_model]
			loss = f.headLoss(states, m.head, labels).Item()
		})
	})
	return loss, err
}

// ForcedLogits are the scores of all tokens at each label position, teacher forced,
// without dropout: [sum of label lengths, VocabSize], in the batch's order.
func (m *Model) ForcedLogits(s *tensor.Scope, b Batch) (logits *tensor.Tensor) {
	tensor.NoGrad(func() {
		inputs, labels := b.packed()
		f := pass{Model: m, s: s}
		memory := f.encode(m.embed(s, inputs.ids), inputs)
		read := m.shift(labels)
		logits = f.linear(f.decode(m.embed(s, read.ids), read, memory, inputs), m.head)
	})
	return logits
}

func (f pass) headLoss(states, head *tensor.Tensor, labels packed) *tensor.Tensor {
	if f.Compute != tensor.F32 {
		states, head = f.s.ToDType(states, f.Compute), f.s.ToDType(head, f.Compute)
	}
	return f.s.HeadLoss(states, head, f.s.FromInt64s(labels.ids, f.Device, int64(len(labels.ids))), Ignore)
}

// Gradients is one forward and backward pass with dropout drawn from rng (nil: no
// dropout): the mean loss over the labels, times scale, and its gradient with
// respect to every parameter, in the order of Params and owned by s.
func (m *Model) Gradients(s *tensor.Scope, b Batch, rng *tensor.RNG, scale float64) (loss float64, grads []*tensor.Tensor) {
	grads = make([]*tensor.Tensor, len(m.params))
	tensor.Within(func(inner *tensor.Scope) {
		f := pass{Model: m, s: inner, rng: rng}
		if rng != nil {
			f.p = m.Config.DropoutRate
		}
		inputs, labels := b.packed()
		read := m.shift(labels)
		// The embedded tokens are leaves of their own: their gradients are added to
		// the head's in place, instead of as two more matrices of its size.
		var in, out *tensor.Tensor
		tensor.NoGrad(func() { in, out = m.embed(inner, inputs.ids), m.embed(inner, read.ids) })
		inner.Leaf(in)
		inner.Leaf(out)

		memory := f.encode(in, inputs)
		states := f.decode(out, read, memory, inputs)
		value := f.headLoss(states, m.head, labels)
		loss = value.Item()

		leaves := []*tensor.Tensor{in, out}
		for _, p := range m.params {
			leaves = append(leaves, p.Tensor)
		}
		all := inner.Gradients(inner.Scale(value, scale), leaves)
		for i, g := range all[2:] {
			if g == nil && m.params[i].Tensor == m.shared { // an untied head
				g = inner.Zeros(tensor.F32, m.Device, m.shared.Shape()...)
			}
			if g == nil {
				tensor.Failf("T5", "%s has no gradient", m.params[i].Name)
			}
			if m.params[i].Tensor == m.shared {
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
func (c Config) CheckTokens(b Batch) error {
	for _, side := range []struct {
		name      string
		sequences [][]int32
	}{{"input", b.Inputs}, {"label", b.Labels}} {
		for i, ids := range side.sequences {
			for j, id := range ids {
				if (id < 0 || int64(id) >= c.VocabSize) && !(id == Ignore && side.name == "label") {
					return fmt.Errorf("%s %d: token %d at %d is outside of the vocabulary of %d", side.name, i, id, j, c.VocabSize)
				}
			}
		}
	}
	return nil
}
