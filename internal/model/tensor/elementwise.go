package tensor

import lib "github.com/sugarme/gotch/libtch"

// Element-wise operations. Binary ones broadcast as PyTorch's do.

// Relu is max(t, 0).
func (s *Scope) Relu(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgRelu(&out, t.use("Relu"))
	return s.own("Relu", out, t)
}

// Tanh is the hyperbolic tangent.
func (s *Scope) Tanh(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgTanh(&out, t.use("Tanh"))
	return s.own("Tanh", out, t)
}

// Rsqrt is 1/√t.
func (s *Scope) Rsqrt(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgRsqrt(&out, t.use("Rsqrt"))
	return s.own("Rsqrt", out, t)
}

// Sqrt is √t.
func (s *Scope) Sqrt(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgSqrt(&out, t.use("Sqrt"))
	return s.own("Sqrt", out, t)
}

// Square is t².
func (s *Scope) Square(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgSquare(&out, t.use("Square"))
	return s.own("Square", out, t)
}

// Exp is e^t.
func (s *Scope) Exp(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgExp(&out, t.use("Exp"))
	return s.own("Exp", out, t)
}

// Log is the natural logarithm.
func (s *Scope) Log(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgLog(&out, t.use("Log"))
	return s.own("Log", out, t)
}

// Neg is -t.
func (s *Scope) Neg(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgNeg(&out, t.use("Neg"))
	return s.own("Neg", out, t)
}

// Isfinite is true where t is neither infinite nor NaN.
func (s *Scope) Isfinite(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgIsfinite(&out, t.use("Isfinite"))
	return s.own("Isfinite", out, t)
}

// LogicalNot is true where t is zero.
func (s *Scope) LogicalNot(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgLogicalNot(&out, t.use("LogicalNot"))
	return s.own("LogicalNot", out, t)
}

// All is whether all elements are true, a Bool scalar.
func (s *Scope) All(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgAll(&out, t.use("All"))
	return s.own("All", out, t)
}

// Max is the largest element, a scalar.
func (s *Scope) Max(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgMax(&out, t.use("Max"))
	return s.own("Max", out, t)
}

// Min is the smallest element, a scalar.
func (s *Scope) Min(t *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgMin(&out, t.use("Min"))
	return s.own("Min", out, t)
}

// Add is a + b.
func (s *Scope) Add(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgAdd(&out, a.use("Add"), b.use("Add"))
	return s.own("Add", out, a, b)
}

// Sub is a - b.
func (s *Scope) Sub(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgSub(&out, a.use("Sub"), b.use("Sub"))
	return s.own("Sub", out, a, b)
}

// Mul is a * b, by element.
func (s *Scope) Mul(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgMul(&out, a.use("Mul"), b.use("Mul"))
	return s.own("Mul", out, a, b)
}

// Div is a / b, by element.
func (s *Scope) Div(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgDiv(&out, a.use("Div"), b.use("Div"))
	return s.own("Div", out, a, b)
}

// Maximum is the larger of both, by element.
func (s *Scope) Maximum(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgMaximum(&out, a.use("Maximum"), b.use("Maximum"))
	return s.own("Maximum", out, a, b)
}

// Less is a < b, Bool.
func (s *Scope) Less(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgLtTensor(&out, a.use("Less"), b.use("Less"))
	return s.own("Less", out, a, b)
}

// LessEqual is a <= b, Bool.
func (s *Scope) LessEqual(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgLeTensor(&out, a.use("LessEqual"), b.use("LessEqual"))
	return s.own("LessEqual", out, a, b)
}

// Equal is a == b, Bool.
func (s *Scope) Equal(a, b *Tensor) *Tensor {
	var out lib.Ctensor
	lib.AtgEqTensor(&out, a.use("Equal"), b.use("Equal"))
	return s.own("Equal", out, a, b)
}

// AddInPlace is a += b.
func (s *Scope) AddInPlace(a, b *Tensor) {
	var out lib.Ctensor
	lib.AtgAdd_(&out, a.use("AddInPlace"), b.use("AddInPlace"))
	s.inPlace("AddInPlace", out, a, b)
}

// MulInPlace is a *= b.
func (s *Scope) MulInPlace(a, b *Tensor) {
	var out lib.Ctensor
	lib.AtgMul_(&out, a.use("MulInPlace"), b.use("MulInPlace"))
	s.inPlace("MulInPlace", out, a, b)
}

// DivInPlace is a /= b.
func (s *Scope) DivInPlace(a, b *Tensor) {
	var out lib.Ctensor
	lib.AtgDiv_(&out, a.use("DivInPlace"), b.use("DivInPlace"))
	s.inPlace("DivInPlace", out, a, b)
}

// AddScalar is t + v.
func (s *Scope) AddScalar(t *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgAddScalar(&out, t.use("AddScalar"), value)
	lib.AtsFree(value)
	return s.own("AddScalar", out, t)
}

// Scale is t * v.
func (s *Scope) Scale(t *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgMulScalar(&out, t.use("Scale"), value)
	lib.AtsFree(value)
	return s.own("Scale", out, t)
}

// LessScalar is t < v, Bool.
func (s *Scope) LessScalar(t *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgLt(&out, t.use("LessScalar"), value)
	lib.AtsFree(value)
	return s.own("LessScalar", out, t)
}

// LessEqualScalar is t <= v, Bool.
func (s *Scope) LessEqualScalar(t *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgLe(&out, t.use("LessEqualScalar"), value)
	lib.AtsFree(value)
	return s.own("LessEqualScalar", out, t)
}

// EqualScalar is t == v, Bool.
func (s *Scope) EqualScalar(t *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgEq(&out, t.use("EqualScalar"), value)
	lib.AtsFree(value)
	return s.own("EqualScalar", out, t)
}

// ClampMin is max(t, v).
func (s *Scope) ClampMin(t *Tensor, v float64) *Tensor {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgClampMin(&out, t.use("ClampMin"), value)
	lib.AtsFree(value)
	return s.own("ClampMin", out, t)
}

// ScaleInPlace is t *= v.
func (s *Scope) ScaleInPlace(t *Tensor, v float64) {
	var out lib.Ctensor
	value := lib.AtsFloat(v)
	lib.AtgMulScalar_(&out, t.use("ScaleInPlace"), value)
	lib.AtsFree(value)
	s.inPlace("ScaleInPlace", out, t)
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
