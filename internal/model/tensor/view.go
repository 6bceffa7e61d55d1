package tensor

// #include "native/native.h"
// #include "native/autograd.h"
import "C"

import (
	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/system/lists"
)

// View is t with another shape, sharing memory; one size may be -1.
func (s *Scope) View(t *Tensor, shape ...int64) *Tensor {
	return s.shaped("View", lib.AtgView, t, shape)
}

// Transpose swaps two dimensions, sharing memory.
func (s *Scope) Transpose(t *Tensor, i, j int64) *Tensor {
	return s.unary("Transpose", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgTranspose(out, c, i, j) }, t)
}

// Narrow is rows start … start+length-1 along dim, sharing memory.
func (s *Scope) Narrow(t *Tensor, dim, start, length int64) *Tensor {
	return s.unary("Narrow", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgNarrow(out, c, dim, start, length) }, t)
}

// Select is row i along dim, which is removed, sharing memory.
func (s *Scope) Select(t *Tensor, dim, i int64) *Tensor {
	return s.unary("Select", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgSelect(out, c, dim, i) }, t)
}

// Unsqueeze adds a dimension of size 1.
func (s *Scope) Unsqueeze(t *Tensor, dim int64) *Tensor {
	return s.unary("Unsqueeze", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgUnsqueeze(out, c, dim) }, t)
}

// Expand repeats dimensions of size 1 without copying.
func (s *Scope) Expand(t *Tensor, shape ...int64) *Tensor {
	return s.shaped("Expand", func(out *lib.Ctensor, c lib.Ctensor, at []int64, n int) {
		lib.AtgExpand(out, c, at, n, 0)
	}, t, shape)
}

// Extend is old [any, steps, w], with its rows in an order if that is not nil, and one more step [rows, w]: [rows,
// steps+1, w], on a CPU and without gradients.
func (s *Scope) Extend(old, order, step *Tensor) *Tensor {
	const op = "Extend"
	return s.native(op, func(out *handle) *C.char { return C.redsi_extend(out, old.n(op), order.optional(op), step.n(op)) }, old, order, step)
}

// Cat joins tensors along dim.
func (s *Scope) Cat(dim int64, ts ...*Tensor) *Tensor {
	if len(ts) == 0 {
		Failf("Cat", "no tensors")
	}
	var out lib.Ctensor
	in := lists.Map(ts, func(t *Tensor) lib.Ctensor { return t.use("Cat") })
	lib.AtgCat(&out, in, len(in), dim)
	return s.own("Cat", out, ts...)
}

// IndexSelect is the rows index (I64, [n]) along dim, copied.
func (s *Scope) IndexSelect(t *Tensor, dim int64, index *Tensor) *Tensor {
	return s.binary("IndexSelect", func(out *lib.Ctensor, x, y lib.Ctensor) { lib.AtgIndexSelect(out, x, dim, y) }, t, index)
}

// Gather takes one element per index along dim: out[i][j] = t[i][index[i][j]].
func (s *Scope) Gather(t *Tensor, dim int64, index *Tensor) *Tensor {
	return s.binary("Gather", func(out *lib.Ctensor, x, y lib.Ctensor) { lib.AtgGather(out, x, dim, y, 0) }, t, index)
}

// CopyInPlace writes src's elements into dst, broadcasting and converting.
func (s *Scope) CopyInPlace(dst, src *Tensor) {
	lib.AtCopy_(dst.use("CopyInPlace"), src.use("CopyInPlace"))
	check("CopyInPlace", dst, src)
}

// FillInPlace sets all elements to v.
func (s *Scope) FillInPlace(t *Tensor, v float64) { s.scalarInPlace("FillInPlace", lib.AtgFill_, t, v) }

// Split is t's parts of these sizes along dim, views of it. Their gradients are put together at once, where the
// gradients of Narrow would be added up.
func (s *Scope) Split(t *Tensor, dim int64, sizes ...int64) []*Tensor {
	const op = "Split"
	parts, out := make([]handle, len(sizes)), make([]*Tensor, len(sizes))
	must(op, C.redsi_split(&parts[0], t.n(op), (*C.int64_t)(&sizes[0]), C.int64_t(len(sizes)), C.int64_t(dim)), t)
	for i, c := range parts {
		out[i] = s.own(op, lib.Ctensor(c), t)
	}
	return out
}

// Place makes t, whose handle stays the same, lie where at does: its elements become at's elements, and later changes
// of one are changes of the other. Gradients do not flow between them.
func Place(t, at *Tensor) {
	const op = "Place"
	must(op, C.redsi_place(t.n(op), at.n(op)), t, at)
}
