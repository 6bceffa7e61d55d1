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
	count  int64     // labels that are not ignored
	arrays [][]int64 // for a device: in the order of upload
}

// Prepare makes a batch ready for a model of the configuration c on a device, or says what
// is wrong with it. What it takes grows with the tokens, and on a card with the padding that
// the batch would have.
func Prepare(c Config, device tensor.Device, b Batch) (*Prepared, error) {
	if len(b.Inputs) == 0 || len(b.Inputs) != len(b.Labels) {
		return nil, fmt.Errorf("a batch of %d inputs and %d labels", len(b.Inputs), len(b.Labels))
	}
	if err := c.Vocabulary().CheckTokens(b); err != nil {
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
	p.read = c.Vocabulary().shift(p.labels)
	for _, id := range p.labels.ids {
		if id != Ignore {
			p.count++
		}
	}
	p.arrays = [][]int64{p.inputs.ids, p.read.ids, p.labels.ids}
	if device.IsCUDA() {
		for i, q := range []Sequences{p.inputs, p.read} {
			indexes, err := c.Indexes(q, i == 0)
			if err != nil {
				return nil, err
			}
			p.arrays = append(p.arrays, tensor.PaddingIndexes(nil, q.Start, q.Len, int64(len(q.ids))), indexes)
		}
	}
	return p, nil
}

// Prepare is Prepare for the model, and fails as an operation does.
func (m *Model) Prepare(b Batch) *Prepared {
	p, err := Prepare(m.Config, m.Device, b)
	if err != nil {
		tensor.Failf("model", "%v", err)
	}
	return p
}

// indexes are a batch's arrays where the model is.
type indexes struct {
	inputs, read placed
	labels       *tensor.Tensor
	cross        *tensor.Layout // of what is read to inputs; nil on a CPU
}

// placed are sequences whose arrays are where the model is.
type placed struct {
	Sequences
	at *tensor.Tensor // their tokens
}

// upload brings a batch to the model's device, at once.
func (m *Model) upload(s *tensor.Scope, p *Prepared) (at indexes) {
	all := s.Upload(m.Device, p.arrays...)
	at.inputs, at.read, at.labels = placed{Sequences: p.inputs, at: all[0]}, placed{Sequences: p.read, at: all[1]}, all[2]
	if len(all) == 3 {
		return at
	}
	paddings := [2]*tensor.Padding{}
	for i, q := range []*placed{&at.inputs, &at.read} {
		padding, indexes := all[3+2*i], all[4+2*i]
		paddings[i] = s.NewPadding(q.Start, q.Len, int64(len(q.ids)), padding)
		q.Layout, q.Indexes = tensor.NewLayout(paddings[i], paddings[i]), indexes
	}
	at.cross = tensor.NewLayout(paddings[1], paddings[0])
	return at
}
