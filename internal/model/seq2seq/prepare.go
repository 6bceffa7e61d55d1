package seq2seq

import (
	"fmt"

	"github.com/redsi/redsi/internal/model/tensor"
)

// Prepared is a batch as the arrays that a forward pass indexes by. It holds no tensors:
// any goroutine can make one while a model is working on another.
type Prepared struct {
	// Numbers are what a device has of a batch, one behind the other: the caller's own, which may be set, and the
	// batch's arrays.
	Numbers []int64

	inputs Sequences
	labels Sequences
	read   Sequences // what the decoder reads: labels, one later
	own    int64     // numbers in front that are the caller's
	sizes  []int64   // of the arrays that follow
}

// Shapes are the numbers of a batch that decide the shapes of everything computed from it.
type Shapes struct{ Examples, Inputs, LongestInput, Labels, LongestLabel int64 }

func (p *Prepared) Shapes() Shapes {
	return Shapes{
		Examples: int64(len(p.inputs.Start)),
		Inputs:   int64(len(p.inputs.ids)), LongestInput: p.inputs.Most,
		Labels: int64(len(p.labels.ids)), LongestLabel: p.labels.Most,
	}
}

// PrepareStep makes a batch ready for a training step of a model of the configuration c on a device, which brings own
// numbers along, or says what is wrong with the batch. On a card the batch is filled up to one of few shapes (bucket.go);
// results are the same up to rounding. What is prepared grows with the tokens, and on a card with the padding that the
// batch would have.
func PrepareStep(c Config, device tensor.Device, b Batch, own int) (*Prepared, error) {
	return prepare(c, device, b, true, own)
}

func prepare(c Config, device tensor.Device, b Batch, step bool, own int) (*Prepared, error) {
	if len(b.Inputs) == 0 || len(b.Inputs) != len(b.Labels) {
		return nil, fmt.Errorf("a batch of %d inputs and %d labels", len(b.Inputs), len(b.Labels))
	}
	if err := c.Vocabulary().CheckTokens(b); err != nil {
		return nil, err
	}
	var most widths
	if step && device.IsCUDA() {
		b, most = fill(b, int32(c.Vocabulary().Pad))
	}
	p := &Prepared{inputs: pack(b.Inputs), labels: pack(b.Labels), own: int64(own), Numbers: make([]int64, own)}
	p.inputs.Most, p.labels.Most = max(p.inputs.Most, most.inputs), max(p.labels.Most, most.labels)
	p.read = c.Vocabulary().shift(p.labels)
	arrays := [][]int64{p.inputs.ids, p.read.ids, p.labels.ids}
	if device.IsCUDA() {
		for i, q := range []Sequences{p.inputs, p.read} {
			indexes, err := c.Indexes(q, i == 0)
			if err != nil {
				return nil, err
			}
			arrays = append(arrays, tensor.PaddingIndexes(q.Start, q.Len, int64(len(q.ids)), q.Most), indexes)
		}
	}
	for _, array := range arrays {
		p.sizes = append(p.sizes, int64(len(array)))
		p.Numbers = append(p.Numbers, array...)
	}
	return p, nil
}

// Prepare makes a batch ready for the model as it is, not filled up, and fails as an operation does.
func (m *Model) Prepare(b Batch) *Prepared {
	p, err := prepare(m.Config, m.Device, b, false, 0)
	if err != nil {
		tensor.Failf("model", "%v", err)
	}
	return p
}

// indexes are a batch's arrays where the model is.
type indexes struct {
	inputs, read Sequences
	labels       *tensor.Tensor
	cross        *tensor.Layout // of what is read to inputs; nil on a CPU
}

// in are the arrays of a batch whose Numbers are in a vector.
func (p *Prepared) in(s *tensor.Scope, numbers *tensor.Tensor) (at indexes) {
	all, first := make([]*tensor.Tensor, len(p.sizes)), p.own
	for i, n := range p.sizes {
		all[i] = s.Narrow(numbers, 0, first, n)
		first += n
	}
	at.inputs, at.read, at.labels = p.inputs, p.read, all[2]
	at.inputs.tokens, at.read.tokens = all[0], all[1]
	if len(all) == 3 {
		return at
	}
	paddings := [2]*tensor.Padding{}
	for i, q := range []*Sequences{&at.inputs, &at.read} {
		padding, indexes := all[3+2*i], all[4+2*i]
		paddings[i] = s.NewPadding(q.Start, q.Len, int64(len(q.ids)), q.Most, padding)
		q.Layout, q.Indexes = tensor.NewLayout(paddings[i], paddings[i]), indexes
	}
	at.cross = tensor.NewLayout(paddings[1], paddings[0])
	return at
}
