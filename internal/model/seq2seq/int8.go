package seq2seq

import (
	"errors"
	"sync"

	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/tensor"
)

// SearchIn has encoding, decoding steps and scores multiply in a precision: "fp32", "bf16" or "int8". In int8 parameters and all but
// the products with matrices stay float32; it is for processors, and not for Gradients.
func (m *Model) SearchIn(precision string) (err error) {
	if m.int8 = nil; precision == "int8" {
		if m.Device.IsCUDA() {
			return errors.New("int8 is computed on processors only; use device cpu, or precision bf16 on a card")
		}
		m.int8, precision = new(int8s), "fp32"
	}
	m.HalfScores = true
	m.Compute, err = tensor.ParseDType(precision)
	return err
}

// Int8 reports whether searches multiply in int8.
func (m *Model) Int8() bool { return m.int8 != nil }

// Slow is what a user should know of a search whose precision takes longer than fp32 on this processor; "" of others.
func (m *Model) Slow() string {
	if m.Int8() && !kernel.Int8() {
		return `this processor has no instructions for int8, AVX512-VNNI or AVX2, which takes longer than fp32 here: precision = "fp32" is the faster one`
	}
	return tensor.SlowBF16(m.Compute, m.Device)
}

// int8s are matrices as products of int8 take them: copies, made when they are first needed.
type int8s struct {
	of   sync.Map  // *tensor.Tensor: *kernel.Head
	rows sync.Pool // of *kernel.Rows that nobody uses
}

func (k *int8s) matrix(s *tensor.Scope, w *tensor.Tensor) (*kernel.Head, error) {
	if h, ok := k.of.Load(w); ok {
		return h.(*kernel.Head), nil
	}
	h, err := kernel.PackInt8(s.Contiguous(w).Shared(), int(w.Dim(0)), int(w.Dim(1)))
	if err == nil {
		k.of.Store(w, h)
	}
	return h, err
}

// products are x·wᵀ + b of each, of an x [T, in] that is rounded once.
func (k *int8s) products(s *tensor.Scope, x *tensor.Tensor, of ...Dense) []*tensor.Tensor {
	rows, ok := k.rows.Get().(*kernel.Rows)
	if !ok {
		rows = new(kernel.Rows)
	}
	defer k.rows.Put(rows)
	rows.Set(s.Contiguous(x).Shared(), int(x.Dim(1)))
	out := make([]*tensor.Tensor, len(of))
	for i, d := range of {
		out[i] = s.Empty(tensor.F32, tensor.CPU, x.Dim(0), d.W.Dim(0))
		h, err := k.matrix(s, d.W)
		if err == nil {
			err = h.Product(out[i].Shared(), rows, tensor.NumThreads())
		}
		if err != nil {
			tensor.Failf("model", "%v", err)
		}
		if d.B != nil {
			s.AddInPlace(out[i], d.B)
		}
	}
	return out
}
