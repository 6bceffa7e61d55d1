package seq2seq

import (
	"sync"

	"github.com/redsi/redsi/internal/model/tensor"
)

// Packed are copies of the matrices that encoding and a decoder's steps multiply by, laid out for the processor: with
// few rows laying them out takes longer than the products. In F32 results are the same bytes; in BF16 products are not
// rounded. Several searches may use it at once; a change of the model's weights needs a new one.
type Packed struct {
	scope  *tensor.Scope
	mu     sync.Mutex
	copies map[joined]*tensor.Tensor // each packed at its first use
}

// joined is a matrix, the first of several where one product is by all of them.
type joined struct {
	first *tensor.Tensor
	n     int
}

// Pack returns nil where copies are of no use: on a card, where products are libtorch's, in int8, and in half precision
// except in BF16 with HalfScores.
func (m *Model) Pack() *Packed {
	if m.Device.IsCUDA() || m.int8 != nil || !tensor.SameForAnyRows() || m.Compute != tensor.F32 && !(m.Compute == tensor.BF16 && m.HalfScores && tensor.MultipliesBF16()) {
		return nil
	}
	return &Packed{scope: tensor.NewScope(), copies: map[joined]*tensor.Tensor{}}
}

// Close frees the copies, of nil none.
func (k *Packed) Close() {
	if k != nil {
		k.scope.Close()
	}
}

// of is the copy of matrices, one below the other, and how many rows they have.
func (k *Packed) of(ws ...*tensor.Tensor) (packed *tensor.Tensor, rows int64) {
	for _, w := range ws {
		rows += w.Dim(0)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := joined{ws[0], len(ws)}
	if k.copies[key] == nil {
		tensor.Within(func(s *tensor.Scope) {
			k.copies[key] = k.scope.Move(s.PackRows(s.Cat(0, ws...)))
		})
	}
	return k.copies[key], rows
}
