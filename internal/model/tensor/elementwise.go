package tensor

import (
	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// Element-wise operations. Binary ones broadcast as PyTorch's do.

// Relu is max(t, 0).
func (s *Scope) Relu(t *Tensor) *Tensor { return s.unary("Relu", lib.AtgRelu, t) }

// Square is t².
func (s *Scope) Square(t *Tensor) *Tensor { return s.unary("Square", lib.AtgSquare, t) }

// Exp is e^t.
func (s *Scope) Exp(t *Tensor) *Tensor { return s.unary("Exp", lib.AtgExp, t) }

// Add is a + b.
func (s *Scope) Add(a, b *Tensor) *Tensor { return s.binary("Add", lib.AtgAdd, a, b) }

// Sub is a - b.
func (s *Scope) Sub(a, b *Tensor) *Tensor { return s.binary("Sub", lib.AtgSub, a, b) }

// Mul is a * b, by element.
func (s *Scope) Mul(a, b *Tensor) *Tensor { return s.binary("Mul", lib.AtgMul, a, b) }

// Div is a / b, by element.
func (s *Scope) Div(a, b *Tensor) *Tensor { return s.binary("Div", lib.AtgDiv, a, b) }

// Less is a < b, Bool.
func (s *Scope) Less(a, b *Tensor) *Tensor { return s.binary("Less", lib.AtgLtTensor, a, b) }

// LessEqual is a <= b, Bool.
func (s *Scope) LessEqual(a, b *Tensor) *Tensor { return s.binary("LessEqual", lib.AtgLeTensor, a, b) }

// AddInPlace is a += b.
func (s *Scope) AddInPlace(a, b *Tensor) { s.binaryInPlace("AddInPlace", lib.AtgAdd_, a, b) }

// Scale is t * v.
func (s *Scope) Scale(t *Tensor, v float64) *Tensor { return s.scalar("Scale", lib.AtgMulScalar, t, v) }

// ScaleInPlace is t *= v.
func (s *Scope) ScaleInPlace(t *Tensor, v float64) {
	s.scalarInPlace("ScaleInPlace", lib.AtgMulScalar_, t, v)
}

// MaskedFill is t with v where mask (Bool) is true.
func (s *Scope) MaskedFill(t, mask *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgMaskedFill(&out, t.use("MaskedFill"), mask.use("MaskedFill"), value)
	lib.AtsFree(value)
	return s.own("MaskedFill", out, t, mask)
}

// Gelu is the Gaussian error linear unit: exact, or with tanh (T5 v1.1's gelu_new).
func (s *Scope) Gelu(t *Tensor, tanh bool) *Tensor {
	if tanh {
		return s.activation("Gelu", t, native.GeluTanh)
	}
	var out lib.Ctensor
	lib.AtgGelu(&out, t.use("Gelu"), "none")
	return s.own("Gelu", out, t)
}

// AllFinite says whether t has no infinity and no NaN.
func (s *Scope) AllFinite(t *Tensor) bool {
	return s.unary("AllFinite", lib.AtgAll, s.unary("AllFinite", lib.AtgIsfinite, t)).Item() != 0
}
