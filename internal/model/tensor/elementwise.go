package tensor

// #include "native/native.h"
import "C"

import lib "github.com/sugarme/gotch/libtch"

// Element-wise operations. Binary ones broadcast as PyTorch's do; comparisons are Bool.

func (s *Scope) Relu(t *Tensor) *Tensor         { return s.unary("Relu", lib.AtgRelu, t) }
func (s *Scope) Exp(t *Tensor) *Tensor          { return s.unary("Exp", lib.AtgExp, t) }
func (s *Scope) Add(a, b *Tensor) *Tensor       { return s.binary("Add", lib.AtgAdd, a, b) }
func (s *Scope) Sub(a, b *Tensor) *Tensor       { return s.binary("Sub", lib.AtgSub, a, b) }
func (s *Scope) Mul(a, b *Tensor) *Tensor       { return s.binary("Mul", lib.AtgMul, a, b) }
func (s *Scope) Div(a, b *Tensor) *Tensor       { return s.binary("Div", lib.AtgDiv, a, b) }
func (s *Scope) Minimum(a, b *Tensor) *Tensor   { return s.binary("Minimum", lib.AtgMinimum, a, b) }
func (s *Scope) Less(a, b *Tensor) *Tensor      { return s.binary("Less", lib.AtgLtTensor, a, b) }
func (s *Scope) LessEqual(a, b *Tensor) *Tensor { return s.binary("LessEqual", lib.AtgLeTensor, a, b) }

// AddInPlace is a += b.
func (s *Scope) AddInPlace(a, b *Tensor) { s.binaryInPlace("AddInPlace", lib.AtgAdd_, a, b) }

// Scale is t * v.
func (s *Scope) Scale(t *Tensor, v float64) *Tensor {
	return s.own("Scale", withScalar("Scale", lib.AtgMulScalar, t, v), t)
}

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
		return s.activation("Gelu", t, geluTanh)
	}
	return s.unary("Gelu", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgGelu(out, c, "none") }, t)
}

// Silu is t·sigmoid(t).
func (s *Scope) Silu(t *Tensor) *Tensor { return s.activation("Silu", t, silu) }

// The kinds of activation, as activation.h numbers them.
const (
	geluTanh = 0
	silu     = 1
)

func (s *Scope) activation(op string, t *Tensor, kind C.int64_t) *Tensor {
	return s.native(op, func(out *handle) *C.char { return C.redsi_activation(out, t.n(op), kind) }, t)
}

// Activation is a function of each element.
type Activation func(s *Scope, t *Tensor) *Tensor

// activations are the functions of transformers' ACT2FN that models here may name.
var activations = map[string]Activation{
	"relu":              (*Scope).Relu,
	"gelu":              func(s *Scope, t *Tensor) *Tensor { return s.Gelu(t, false) },
	"gelu_new":          func(s *Scope, t *Tensor) *Tensor { return s.Gelu(t, true) },
	"gelu_pytorch_tanh": func(s *Scope, t *Tensor) *Tensor { return s.Gelu(t, true) },
	"silu":              (*Scope).Silu,
	"swish":             (*Scope).Silu,
}

// ActivationNames are the names of activations, for messages.
const ActivationNames = "relu, gelu, gelu_new, gelu_pytorch_tanh, silu and swish"

// ActivationOf is the function of a name in config.json; nil if there is none.
func ActivationOf(name string) Activation { return activations[name] }

// Dropout is t with each element set to zero with probability p and the others
// divided by 1-p; t itself where p is 0. On a card what is drawn follows SeedDevice.
func (s *Scope) Dropout(t *Tensor, p float64, rng *RNG) *Tensor {
	const op = "Dropout"
	if p == 0 {
		return t
	}
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_dropout(out, t.n(op), nil, C.double(p), C.uint64_t(rng.keyFor(p)))
	}, t)
}

// AddDropout is residual + Dropout(t), of the same shape, in one pass.
func (s *Scope) AddDropout(residual, t *Tensor, p float64, rng *RNG) *Tensor {
	const op = "AddDropout"
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_dropout(out, t.n(op), residual.n(op), C.double(p), C.uint64_t(rng.keyFor(p)))
	}, residual, t)
}

// ReluDropout is Dropout(max(t, 0)) in one pass.
func (s *Scope) ReluDropout(t *Tensor, p float64, rng *RNG) *Tensor {
	const op = "ReluDropout"
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_relu_dropout(out, t.n(op), C.double(p), C.uint64_t(rng.keyFor(p)))
	}, t)
}

// AllFinite says whether t has no infinity and no NaN.
func (s *Scope) AllFinite(t *Tensor) bool {
	return s.unary("AllFinite", lib.AtgAll, s.unary("AllFinite", lib.AtgIsfinite, t)).Item() != 0
}
