package tensor

import lib "github.com/sugarme/gotch/libtch"

// Element-wise operations. Binary ones broadcast as PyTorch's do.

// Relu is max(t, 0).
func (s *Scope) Relu(t *Tensor) *Tensor { return s.unary("Relu", lib.AtgRelu, t) }

// Tanh is the hyperbolic tangent.
func (s *Scope) Tanh(t *Tensor) *Tensor { return s.unary("Tanh", lib.AtgTanh, t) }

// Rsqrt is 1/√t.
func (s *Scope) Rsqrt(t *Tensor) *Tensor { return s.unary("Rsqrt", lib.AtgRsqrt, t) }

// Sqrt is √t.
func (s *Scope) Sqrt(t *Tensor) *Tensor { return s.unary("Sqrt", lib.AtgSqrt, t) }

// Square is t².
func (s *Scope) Square(t *Tensor) *Tensor { return s.unary("Square", lib.AtgSquare, t) }

// Exp is e^t.
func (s *Scope) Exp(t *Tensor) *Tensor { return s.unary("Exp", lib.AtgExp, t) }

// Log is the natural logarithm.
func (s *Scope) Log(t *Tensor) *Tensor { return s.unary("Log", lib.AtgLog, t) }

// Neg is -t.
func (s *Scope) Neg(t *Tensor) *Tensor { return s.unary("Neg", lib.AtgNeg, t) }

// Isfinite is true where t is neither infinite nor NaN.
func (s *Scope) Isfinite(t *Tensor) *Tensor { return s.unary("Isfinite", lib.AtgIsfinite, t) }

// LogicalNot is true where t is zero.
func (s *Scope) LogicalNot(t *Tensor) *Tensor { return s.unary("LogicalNot", lib.AtgLogicalNot, t) }

// All is whether all elements are true, a Bool scalar.
func (s *Scope) All(t *Tensor) *Tensor { return s.unary("All", lib.AtgAll, t) }

// Max is the largest element, a scalar.
func (s *Scope) Max(t *Tensor) *Tensor { return s.unary("Max", lib.AtgMax, t) }

// Min is the smallest element, a scalar.
func (s *Scope) Min(t *Tensor) *Tensor { return s.unary("Min", lib.AtgMin, t) }

// Add is a + b.
func (s *Scope) Add(a, b *Tensor) *Tensor { return s.binary("Add", lib.AtgAdd, a, b) }

// Sub is a - b.
func (s *Scope) Sub(a, b *Tensor) *Tensor { return s.binary("Sub", lib.AtgSub, a, b) }

// Mul is a * b, by element.
func (s *Scope) Mul(a, b *Tensor) *Tensor { return s.binary("Mul", lib.AtgMul, a, b) }

// Div is a / b, by element.
func (s *Scope) Div(a, b *Tensor) *Tensor { return s.binary("Div", lib.AtgDiv, a, b) }

// Maximum is the larger of both, by element.
func (s *Scope) Maximum(a, b *Tensor) *Tensor { return s.binary("Maximum", lib.AtgMaximum, a, b) }

// Less is a < b, Bool.
func (s *Scope) Less(a, b *Tensor) *Tensor { return s.binary("Less", lib.AtgLtTensor, a, b) }

// LessEqual is a <= b, Bool.
func (s *Scope) LessEqual(a, b *Tensor) *Tensor { return s.binary("LessEqual", lib.AtgLeTensor, a, b) }

// Equal is a == b, Bool.
func (s *Scope) Equal(a, b *Tensor) *Tensor { return s.binary("Equal", lib.AtgEqTensor, a, b) }

// AddInPlace is a += b.
func (s *Scope) AddInPlace(a, b *Tensor) { s.binaryInPlace("AddInPlace", lib.AtgAdd_, a, b) }

// MulInPlace is a *= b.
func (s *Scope) MulInPlace(a, b *Tensor) { s.binaryInPlace("MulInPlace", lib.AtgMul_, a, b) }

// DivInPlace is a /= b.
func (s *Scope) DivInPlace(a, b *Tensor) { s.binaryInPlace("DivInPlace", lib.AtgDiv_, a, b) }

// AddScalar is t + v.
func (s *Scope) AddScalar(t *Tensor, v float64) *Tensor {
	return s.scalar("AddScalar", lib.AtgAddScalar, t, v)
}

// Scale is t * v.
func (s *Scope) Scale(t *Tensor, v float64) *Tensor { return s.scalar("Scale", lib.AtgMulScalar, t, v) }

// LessScalar is t < v, Bool.
func (s *Scope) LessScalar(t *Tensor, v float64) *Tensor {
	return s.scalar("LessScalar", lib.AtgLt, t, v)
}

// LessEqualScalar is t <= v, Bool.
func (s *Scope) LessEqualScalar(t *Tensor, v float64) *Tensor {
	return s.scalar("LessEqualScalar", lib.AtgLe, t, v)
}

// EqualScalar is t == v, Bool.
func (s *Scope) EqualScalar(t *Tensor, v float64) *Tensor {
	return s.scalar("EqualScalar", lib.AtgEq, t, v)
}

// ClampMin is max(t, v).
func (s *Scope) ClampMin(t *Tensor, v float64) *Tensor {
	return s.scalar("ClampMin", lib.AtgClampMin, t, v)
}

// ScaleInPlace is t *= v.
func (s *Scope) ScaleInPlace(t *Tensor, v float64) {
	s.scalarInPlace("ScaleInPlace", lib.AtgMulScalar_, t, v)
}

// AddcmulInPlace is t += a * b, by element.
func (s *Scope) AddcmulInPlace(t, a, b *Tensor) {
	var out lib.Ctensor
	lib.AtgAddcmul_(&out, t.use("AddcmulInPlace"), a.use("AddcmulInPlace"), b.use("AddcmulInPlace"))
	s.inPlace("AddcmulInPlace", out, t, a, b)
}

// MaskedFill is t with v where mask (Bool) is true.
func (s *Scope) MaskedFill(t, mask *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgMaskedFill(&out, t.use("MaskedFill"), mask.use("MaskedFill"), value)
	lib.AtsFree(value)
	return s.own("MaskedFill", out, t, mask)
}

// Where is a where cond (Bool) is true, else b.
func (s *Scope) Where(cond, a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgWhereSelf(&out, cond.use("Where"), a.use("Where"), b.use("Where"))
	return s.own("Where", out, cond, a, b)
}

// Gelu is the Gaussian error linear unit: exact, or with tanh (T5 v1.1's gelu_new).
func (s *Scope) Gelu(t *Tensor, tanh bool) *Tensor {
	var out lib.Ctensor
	approximate := "none"
	if tanh {
		approximate = "tanh"
	}
	lib.AtgGelu(&out, t.use("Gelu"), approximate)
	return s.own("Gelu", out, t)
}

// AllFinite says whether t has no infinity and no NaN.
func (s *Scope) AllFinite(t *Tensor) bool { return s.All(s.Isfinite(t)).Item() != 0 }
