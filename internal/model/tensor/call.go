package tensor

import lib "github.com/sugarme/gotch/libtch"

// The forms that most operations of libtorch have. op is our name of the operation, for what is said of a failure.

func (s *Scope) unary(op string, call func(out *lib.Ctensor, t lib.Ctensor), t *Tensor) *Tensor {
	var out lib.Ctensor
	call(&out, t.use(op))
	return s.own(op, out, t)
}

func (s *Scope) binary(op string, call func(out *lib.Ctensor, a, b lib.Ctensor), a, b *Tensor) *Tensor {
	var out lib.Ctensor
	call(&out, a.use(op), b.use(op))
	return s.own(op, out, a, b)
}

func (s *Scope) binaryInPlace(op string, call func(out *lib.Ctensor, a, b lib.Ctensor), a, b *Tensor) {
	var out lib.Ctensor
	call(&out, a.use(op), b.use(op))
	s.inPlace(op, out, a, b)
}

func (s *Scope) scalarInPlace(op string, call func(out *lib.Ctensor, t lib.Ctensor, v lib.Cscalar), t *Tensor, v float64) {
	s.inPlace(op, withScalar(op, call, t, v), t)
}

func withScalar(op string, call func(out *lib.Ctensor, t lib.Ctensor, v lib.Cscalar), t *Tensor, v float64) (out lib.Ctensor) {
	value := lib.AtsFloat(v)
	call(&out, t.use(op), value)
	lib.AtsFree(value)
	return out
}

func (s *Scope) shaped(op string, call func(out *lib.Ctensor, t lib.Ctensor, at []int64, n int), t *Tensor, shape []int64) *Tensor {
	var out lib.Ctensor
	at, n := dims(shape)
	call(&out, t.use(op), at, n)
	return s.own(op, out, t)
}
