// Package int8s multiplies by matrices that are rounded to int8, on processors: rows of a matrix, and the rows that it
// multiplies, are integers times a scale each, sums are exact, and results float32.
package int8s

import (
	"errors"
	"sync"

	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/tensor"
)

// Dense is a matrix [out, in] and a bias [out], or nil.
type Dense struct{ W, B *tensor.Tensor }

// Matrices are copies of matrices as products of int8 take them. Several goroutines may use them at once.
type Matrices struct {
	of   sync.Map  // *tensor.Tensor: *kernel.Head
	rows sync.Pool // of *kernel.Rows that nobody uses
}

// New has no matrices; on a card it is an error.
func New(device tensor.Device) (*Matrices, error) {
	if device.IsCUDA() {
		return nil, errors.New("int8 is computed on processors only; use device cpu, or precision bf16 on a card")
	}
	return new(Matrices), nil
}

// Slow is what a user should know whose processor takes longer in int8 than in fp32; "" of others.
func Slow() string {
	if kernel.Int8() {
		return ""
	}
	return `this processor has no instructions for int8, AVX512-VNNI or AVX2, which takes longer than fp32 here: precision = "fp32" is the faster one`
}

// Pack copies a matrix, which may be freed then but stays the name of the copy. Products packs a matrix that was not
// packed before.
func (k *Matrices) Pack(s *tensor.Scope, w *tensor.Tensor) *kernel.Head {
	if h, ok := k.of.Load(w); ok {
		return h.(*kernel.Head)
	}
	h, err := kernel.PackInt8(s.Contiguous(w).Shared(), int(w.Dim(0)), int(w.Dim(1)))
	if err != nil {
		tensor.Failf("model", "%v", err)
	}
	k.of.Store(w, h)
	return h
}

// Products are x·wᵀ + b of each, of an x [T, in] that is rounded once.
func (k *Matrices) Products(s *tensor.Scope, x *tensor.Tensor, of ...Dense) []*tensor.Tensor {
	rows, ok := k.rows.Get().(*kernel.Rows)
	if !ok {
		rows = new(kernel.Rows)
	}
	defer k.rows.Put(rows)
	threads := tensor.NumThreads()
	rows.Set(s.Contiguous(x).Shared(), int(x.Dim(1)), threads)
	out := make([]*tensor.Tensor, len(of))
	for i, d := range of {
		h := k.Pack(s, d.W)
		var bias []float32
		if d.B != nil {
			bias = s.Contiguous(d.B).Shared()
		}
		out[i] = s.Empty(tensor.F32, tensor.CPU, x.Dim(0), int64(h.Vocab))
		if err := h.Product(out[i].Shared(), rows, bias, threads); err != nil {
			tensor.Failf("model", "%v", err)
		}
	}
	return out
}
