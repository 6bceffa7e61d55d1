package seq2seq

import (
	"fmt"

	"github.com/redsi/redsi/internal/model/tensor"
)

// Ignore is the label that the loss leaves out (transformers' -100).
const Ignore = -100

// Batch is what one training step sees: Inputs[i] are a sequence's tokens, with its end token, and Labels[i] the tokens
// to be written, with theirs. Neither has padding; a label may be Ignore.
type Batch struct{ Inputs, Labels [][]int32 }

// shift is transformers' shift_tokens_right: the decoder reads the start token and all
// labels but the last; an ignored label is read as padding.
func (v Vocabulary) shift(labels Sequences) Sequences {
	in := labels
	in.ids = make([]int64, len(labels.ids))
	for i, start := range labels.Start {
		in.ids[start] = v.Start
		copy(in.ids[start+1:start+labels.Len[i]], labels.ids[start:])
	}
	for i, id := range in.ids {
		if id == Ignore {
			in.ids[i] = v.Pad
		}
	}
	return in
}

// Loss is the mean cross entropy over the labels, a scalar, without dropout and without gradients.
func (m *Model) Loss(b Batch) (loss float64, err error) {
	err = tensor.Run(func(s *tensor.Scope) {
		tensor.NoGrad(func() {
			states, head, at := m.teach(s, b)
			loss = m.headLoss(s, states, head, at.labels, 0, tensor.HeadOptions{}).Item()
		})
	})
	return loss, err
}

// ForcedLogits are the scores of all tokens at each label position, teacher forced,
// without dropout: [sum of label lengths, Size], in the batch's order.
func (m *Model) ForcedLogits(s *tensor.Scope, b Batch) (logits *tensor.Tensor) {
	tensor.NoGrad(func() {
		states, head, _ := m.teach(s, b)
		logits = m.LogitsOf(s, states, s.ToDType(head, m.Compute))
	})
	return logits
}

// teach gives the decoder's states at each label position [T, width], without dropout, and the output matrix.
func (m *Model) teach(s *tensor.Scope, b Batch) (states, head *tensor.Tensor, at indexes) {
	p := m.Prepare(b)
	at = p.in(s, s.Upload(m.Device, p.Numbers)[0])
	embedding := m.net.Embedding()
	in, out := s.IndexSelect(embedding, 0, at.inputs.tokens), s.IndexSelect(embedding, 0, at.read.tokens)
	pass, net := m.reading(s)
	return m.forced(pass, net, in, out, at), net.Head(), at
}

func (m *Model) headLoss(s *tensor.Scope, states, head, labels *tensor.Tensor, smooth float64, o tensor.HeadOptions) *tensor.Tensor {
	return s.HeadLoss(s.ToDType(states, m.Compute), s.ToDType(head, m.Compute), labels, Ignore, smooth, o)
}

// Scale is what a loss is multiplied by before gradients are taken; the zero value is 1.
type Scale struct {
	By float64        // of a model on a CPU; 0: 1
	On *tensor.Tensor // a scalar on the model's card; nil: 1
}

// loss is the batch's mean loss, and that times the scale, which gradients are taken of. On a
// card gradients have the scale in them before they are rounded.
func (m *Model) loss(s *tensor.Scope, states, head *tensor.Tensor, at indexes, scale Scale) (loss, value *tensor.Tensor) {
	o := tensor.HeadOptions{Last: m.Device.IsCUDA()}
	if scale.On != nil {
		tensor.NoGrad(func() { o.Scale = s.View(scale.On, 1) })
	}
	value = m.headLoss(s, states, head, at.labels, m.Smoothing, o)
	loss = s.Detach(value)
	if o.Scale != nil {
		tensor.NoGrad(func() { loss = s.View(s.Div(loss, o.Scale)) })
	}
	if scale.By != 0 {
		value = s.Scale(value, scale.By)
	}
	return loss, value
}

// CheckTokens says which sequence of a batch is empty, or which token the vocabulary does not have; for input
// that comes from a file.
func (v Vocabulary) CheckTokens(b Batch) error {
	for _, side := range []struct {
		name      string
		sequences [][]int32
	}{{"input", b.Inputs}, {"label", b.Labels}} {
		for i, ids := range side.sequences {
			if len(ids) == 0 {
				return fmt.Errorf("%s %d is empty", side.name, i)
			}
			for j, id := range ids {
				if (id < 0 || int64(id) >= v.Size) && !(id == Ignore && side.name == "label") {
					return fmt.Errorf("%s %d: token %d at %d is outside of the vocabulary of %d", side.name, i, id, j, v.Size)
				}
			}
		}
	}
	return nil
}
