package tensor

import "github.com/redsi/redsi/internal/model/tensor/native"

// Activation is a function of each element.
type Activation func(s *Scope, t *Tensor) *Tensor

// activations are those of transformers' ACT2FN that models of ours may name.
var activations = map[string]Activation{
	"relu":              (*Scope).Relu,
	"gelu":              func(s *Scope, t *Tensor) *Tensor { return s.Gelu(t, false) },
	"gelu_new":          func(s *Scope, t *Tensor) *Tensor { return s.Gelu(t, true) },
	"gelu_pytorch_tanh": func(s *Scope, t *Tensor) *Tensor { return s.Gelu(t, true) },
	"silu":              (*Scope).Silu,
	"swish":             (*Scope).Silu,
}

// KnownActivations are the names of Activations, for messages.
const KnownActivations = "relu, gelu, gelu_new, gelu_pytorch_tanh, silu and swish"

// ActivationOf is the function of a name in config.json; false if it is not known.
func ActivationOf(name string) (Activation, bool) {
	f, ok := activations[name]
	return f, ok
}

// Silu is t·sigmoid(t).
func (s *Scope) Silu(t *Tensor) *Tensor { return s.activation("Silu", t, native.Silu) }

// activation is a kind of native's.
func (s *Scope) activation(op string, t *Tensor, kind int) *Tensor {
	out, msg := native.Activation(t.n(op), kind)
	return s.ownNative(op, out, msg, t)
}
