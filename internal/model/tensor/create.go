package tensor

// #include "native/native.h"
import "C"

import (
	"io"
	"slices"
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"
)

// dims gives gotch a slice it can take the address of; a scalar has length 0.
func dims(shape []int64) ([]int64, int) {
	if len(shape) == 0 {
		return []int64{0}, 0
	}
	return shape, len(shape)
}

func (s *Scope) Zeros(d DType, dev Device, shape ...int64) *Tensor {
	var out lib.Ctensor
	at, n := dims(shape)
	lib.AtgZeros(&out, at, n, int32(d), dev.c())
	return s.own("Zeros", out)
}

// Empty is a tensor whose elements are not set.
func (s *Scope) Empty(d DType, dev Device, shape ...int64) *Tensor {
	var out lib.Ctensor
	at, n := dims(shape)
	lib.AtgEmpty(&out, at, n, int32(d), dev.c())
	return s.own("Empty", out)
}

func (s *Scope) Full(v float64, d DType, dev Device, shape ...int64) *Tensor {
	t := s.Empty(d, dev, shape...)
	s.FillInPlace(t, v)
	return t
}

// Arange is 0, 1, …, n-1 as I64.
func (s *Scope) Arange(n int64, dev Device) *Tensor {
	var out lib.Ctensor
	end := lib.AtsInt(n)
	lib.AtgArange(&out, end, int32(I64), dev.c())
	lib.AtsFree(end)
	return s.own("Arange", out)
}

// FromFloat32s copies values, in row order, to a tensor on dev.
func (s *Scope) FromFloat32s(values []float32, dev Device, shape ...int64) *Tensor {
	return fromSlice(s, values, F32, dev, shape)
}

// FromInt64s copies values, in row order, to a tensor on dev.
func (s *Scope) FromInt64s(values []int64, dev Device, shape ...int64) *Tensor {
	return fromSlice(s, values, I64, dev, shape)
}

// Upload copies arrays to dev in one transfer, which to a card is asynchronous. The results are
// vectors, views of one buffer.
func (s *Scope) Upload(dev Device, arrays ...[]int64) []*Tensor {
	all := slices.Concat(arrays...)
	one := s.native("Upload", func(out *handle) *C.char {
		return C.redsi_upload(out, (*C.int64_t)(unsafe.SliceData(all)), C.int64_t(len(all)), C.int(dev.c()))
	})
	views, at := make([]*Tensor, len(arrays)), int64(0)
	for i, a := range arrays {
		views[i] = s.Narrow(one, 0, at, int64(len(a)))
		at += int64(len(a))
	}
	return views
}

// UploadInPlace is Upload into a vector of int64 that is there, as Upload gave it of as many numbers: on a
// card it comes after whatever was asked of the card before.
func (s *Scope) UploadInPlace(to *Tensor, numbers []int64) {
	const op = "UploadInPlace"
	must(op, C.redsi_upload_into(to.n(op), (*C.int64_t)(unsafe.SliceData(numbers)), C.int64_t(len(numbers))), to)
}

func fromSlice[E any](s *Scope, values []E, d DType, dev Device, shape []int64) *Tensor {
	n := int64(1)
	for _, size := range shape {
		n *= size
	}
	if n != int64(len(values)) {
		Failf("FromSlice", "%d values do not fill shape %v", len(values), shape)
	}
	t := s.Empty(d, CPU, shape...)
	if n > 0 {
		copy(t.data("FromSlice"), unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), int(n)*d.Size()))
	}
	return s.onto(t, dev)
}

// Read fills a tensor with numel*size bytes of r, elements in row order and little endian. The error is r's.
func (s *Scope) Read(r io.Reader, d DType, dev Device, shape ...int64) (*Tensor, error) {
	t := s.Empty(d, CPU, shape...)
	if _, err := io.ReadFull(r, t.data("Read")); err != nil {
		Free(t)
		return nil, err
	}
	return s.onto(t, dev), nil
}

// Write writes the elements in row order, little endian, without a copy where the tensor is a contiguous CPU tensor.
func (t *Tensor) Write(w io.Writer) error {
	s := NewScope()
	defer s.Close()
	c := s.Contiguous(s.ToDevice(s.Detach(t), CPU))
	_, err := w.Write(c.data("Write"))
	return err
}

func (s *Scope) onto(t *Tensor, dev Device) *Tensor {
	if dev == CPU {
		return t
	}
	moved := s.ToDevice(t, dev)
	Free(t)
	return moved
}

// ToDevice is t on dev; a view of t where it is there already.
func (s *Scope) ToDevice(t *Tensor, dev Device) *Tensor {
	var out lib.Ctensor
	lib.AtgTo(&out, t.use("ToDevice"), dev.c())
	return s.own("ToDevice", out, t)
}

// ToDType is t as d; a view of t where it is that already.
func (s *Scope) ToDType(t *Tensor, d DType) *Tensor {
	return s.unary("ToDType", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgToDtype(out, c, int32(d), 0, 0) }, t)
}

// Contiguous is t with its elements in row order; a view of t where they are.
func (s *Scope) Contiguous(t *Tensor) *Tensor { return s.unary("Contiguous", lib.AtgContiguous, t) }
