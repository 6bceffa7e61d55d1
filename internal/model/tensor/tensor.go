package tensor

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"
)

// Tensor is a handle to a libtorch tensor, owned by one Scope. Two handles may
// share memory (views). Using it after its scope closed panics with an *Error.
type Tensor struct {
	c     lib.Ctensor
	scope *Scope
	slot  int // its place in scope.tensors
}

var live atomic.Int64

// Live is the number of tensor handles not yet freed in this process.
func Live() int64 { return live.Load() }

// use returns the C pointer for an operation; nil means an absent optional.
func (t *Tensor) use(op string) lib.Ctensor {
	if t == nil {
		Failf(op, "operand is nil")
	}
	if t.c == nil {
		Failf(op, "operand was freed: its scope is closed")
	}
	return t.c
}

// Shape is a new slice of the sizes; empty for a scalar.
func (t *Tensor) Shape() []int64 {
	c := t.use("Shape")
	n := lib.AtDim(c)
	shape := make([]int64, n)
	if n > 0 {
		lib.AtShape(c, unsafe.Pointer(&shape[0]))
	}
	check("Shape")
	return shape
}

// Dim is the size of dimension i; negative i counts from the end.
func (t *Tensor) Dim(i int) int64 {
	shape := t.Shape()
	if i < 0 {
		i += len(shape)
	}
	if i < 0 || i >= len(shape) {
		Failf("Dim", "dimension %d of %s", i, t)
	}
	return shape[i]
}

// Numel is the number of elements.
func (t *Tensor) Numel() int64 {
	n := int64(1)
	for _, d := range t.Shape() {
		n *= d
	}
	return n
}

func (t *Tensor) DType() DType { return DType(lib.AtScalarType(t.use("DType"))) }

func (t *Tensor) Device() Device { return Device{index: int32(lib.AtDevice(t.use("Device"))) + 1} }

// String is dtype[shape], for messages.
func (t *Tensor) String() string {
	if t == nil || t.c == nil {
		return "freed"
	}
	return fmt.Sprintf("%s%v", t.DType(), t.Shape())
}

// plain says whether kernels for the CPU compute with it, in F32 or BF16: all else is composed of libtorch's operations.
func (t *Tensor) plain() bool {
	d := t.DType()
	return (d == F32 || d == BF16) && !t.Device().IsCUDA()
}

// RequiresGrad says whether gradients flow to the tensor.
func (t *Tensor) RequiresGrad() bool { return lib.AtRequiresGrad(t.use("RequiresGrad")) }

// Float32s copies the elements out in row order, converting from any float type.
func (t *Tensor) Float32s() []float32 { return elements[float32](t, "Float32s", F32) }

// Int64s copies the elements out in row order, converting from any integer type.
func (t *Tensor) Int64s() []int64 { return elements[int64](t, "Int64s", I64) }

// Bytes copies the elements out in row order, little endian, as they are stored.
func (t *Tensor) Bytes() []byte { return elements[byte](t, "Bytes", t.DType()) }

// elements are copied out as dtype, each of one E or of several.
func elements[E any](t *Tensor, op string, dtype DType) []E {
	s := NewScope()
	defer s.Close()
	if t.DType() != dtype {
		t = s.ToDType(t, dtype)
	}
	n, size := t.Numel(), dtype.Size()
	out := make([]E, int(n)*size/int(unsafe.Sizeof(*new(E))))
	if n > 0 {
		lib.AtCopyData(t.use(op), unsafe.Pointer(&out[0]), uint(n), uint(size))
		check(op, t)
	}
	return out
}

// Item is the value of a tensor of one element.
func (t *Tensor) Item() float64 {
	if n := t.Numel(); n != 1 {
		Failf("Item", "%s has %d elements", t, n)
	}
	at := make([]int64, len(t.Shape())+1)
	v := lib.AtDoubleValueAtIndexes(t.c, unsafe.Pointer(&at[0]), len(at)-1)
	check("Item", t)
	return v
}

// Shared are the elements of a contiguous F32 tensor of the CPU where they are, valid while the tensor lives.
func (t *Tensor) Shared() []float32 {
	if t.DType() != F32 {
		Failf("Shared", "%s is not F32", t)
	}
	d := t.data("Shared")
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(d))), len(d)/F32.Size())
}

// data is the memory of a contiguous CPU tensor, valid while the tensor lives.
func (t *Tensor) data(op string) []byte {
	if t.Device() != CPU || !lib.AtIsContiguous(t.use(op)) {
		Failf(op, "%s is not a contiguous CPU tensor", t)
	}
	n := t.Numel() * int64(t.DType().Size())
	if n == 0 {
		return nil
	}
	p := lib.AtDataPtr(t.c)
	check(op, t)
	return unsafe.Slice((*byte)(p), n)
}
