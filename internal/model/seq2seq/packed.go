package seq2seq

import (
	"sync"

	"github.com/redsi/redsi/internal/model/tensor"
)

// Packed are copies of the matrices that a decoder's steps multiply by, laid out for the processor: with few rows
// laying them out takes longer than the products. Results are the same bytes. Several caches may use it at once; it must
// be made anew when the model's weights have changed.
type Packed struct {
	scope  *tensor.Scope
	mu     sync.Mutex
	copies map[*tensor.Tensor]*tensor.Tensor // made when they are first needed
}

// Pack is nil where no copies are of use: on a card, in half precision or int8, and where products are libtorch's.
func (m *Model) Pack() *Packed {
	if m.Device.IsCUDA() || m.Compute != tensor.F32 || m.int8 != nil || !tensor.SameForAnyRows() {
		return nil
	}
	return &Packed{scope: tensor.NewScope(), copies: map[*tensor.Tensor]*tensor.Tensor{}}
}

// Close frees the copies, of nil none.
func (k *Packed) Close() {
	if k != nil {
		k.scope.Close()
	}
}

func (k *Packed) of(w *tensor.Tensor) *tensor.Tensor {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.copies[w] == nil {
		k.copies[w] = k.scope.PackRows(w)
	}
	return k.copies[w]
}

// With makes steps multiply by copies of the matrices, which must outlive the cache; nil: by themselves.
func (c *Cache) With(k *Packed) *Cache {
	c.packed = k
	return c
}
