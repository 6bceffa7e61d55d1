package tensor

import lib "github.com/sugarme/gotch/libtch"

// Sort sorts along dim, the largest first if descending, and equal ones in the order in which
// they stand, on any device; NaN is larger than all. Indices are I64.
func (s *Scope) Sort(t *Tensor, dim int64, descending bool) (values, indices *Tensor) {
	const op = "Sort"
	var out [2]lib.Ctensor
	lib.AtgSortStable(&out[0], t.use(op), 1, dim, flag(descending))
	values = s.own(op, out[0], t)
	return values, s.own(op, out[1], t)
}

// Bits is t's memory seen as another element type; the last dimension grows or shrinks
// where the sizes of the types differ.
func (s *Scope) Bits(t *Tensor, d DType) *Tensor {
	return s.unary("Bits", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgViewDtype(out, c, int32(d)) }, t)
}

// Cumsum is the running sum along dim, in the type d.
func (s *Scope) Cumsum(t *Tensor, dim int64, d DType) *Tensor {
	return s.unary("Cumsum", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgCumsum(out, c, dim, int32(d)) }, t)
}

// FloorDivScalar is t divided by v, rounded down.
func (s *Scope) FloorDivScalar(t *Tensor, v int64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsInt(v)
	lib.AtgDivScalarMode(&out, t.use("FloorDivScalar"), value, "floor")
	lib.AtsFree(value)
	return s.own("FloorDivScalar", out, t)
}

// PadLast appends n elements v to the last dimension; t itself where n is 0.
func (s *Scope) PadLast(t *Tensor, n int64, v float64) *Tensor {
	if n == 0 {
		return t
	}
	shape := t.Shape()
	last := len(shape) - 1
	padding := append(shape[:last:last], n)
	return s.Cat(int64(last), t, s.Full(v, t.DType(), t.Device(), padding...))
}

// IndexSelectInto writes the rows index (I64, [n]) of t along dim into out, which is contiguous and has n of them.
func (s *Scope) IndexSelectInto(out, t *Tensor, dim int64, index *Tensor) {
	var c lib.Ctensor
	lib.AtgIndexSelectOut(&c, out.use("IndexSelectInto"), t.use("IndexSelectInto"), dim, index.use("IndexSelectInto"))
	s.inPlace("IndexSelectInto", c, out, t, index)
}
