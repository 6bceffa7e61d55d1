//go:build !notorch

package seq2seq

import (
	"fmt"

	"github.com/redsi/redsi/internal/tensor"
)

// Prepared is a batch as the arrays that a forward pass indexes by. It holds no tensors:
// any goroutine can make one while a model is at work on another.
type Prepared struct {
	inputs Sequences
	labels Sequences
	read   Sequences // what the decoder reads: labels, one later
}

// Tokens is the number of labels.
func (p *Prepared) Tokens() int { return len(p.labels.ids) }

// Prepare says what of a batch the vocabulary does not have.
func (v Vocabulary) Prepare(b Batch) (*Prepared, error) {
	if len(b.Inputs) == 0 || len(b.Inputs) != len(b.Labels) {
		return nil, fmt.Errorf("a batch of %d inputs and %d labels", len(b.Inputs), len(b.Labels))
	}
	if err := v.CheckTokens(b); err != nil {
		return nil, err
	}
	for _, side := range []struct {
		name      string
		sequences [][]int32
	}{{"input", b.Inputs}, {"label", b.Labels}} {
		for i, ids := range side.sequences {
			if len(ids) == 0 {
				return nil, fmt.Errorf("%s %d is empty", side.name, i)
			}
		}
	}
	p := &Prepared{inputs: pack(b.Inputs), labels: pack(b.Labels)}
	p.read = v.shift(p.labels)
	return p, nil
}

// Prepare is the vocabulary's, and fails as an operation does.
func (m *Model) Prepare(b Batch) *Prepared {
	p, err := m.Vocabulary().Prepare(b)
	if err != nil {
		tensor.Failf("model", "%v", err)
	}
	return p
}

// indexes are a batch's arrays where the model is.
type indexes struct{ inputs, read, labels *tensor.Tensor }

// upload brings a batch to the model's device, at once.
func (m *Model) upload(s *tensor.Scope, p *Prepared) indexes {
	all := s.Upload(m.Device, p.inputs.ids, p.read.ids, p.labels.ids)
	return indexes{all[0], all[1], all[2]}
}
