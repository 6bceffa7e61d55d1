package tensor

import "github.com/redsi/redsi/internal/model/tensor/native"

// Dropout is t with each element set to zero with probability p and the others
// divided by 1-p; t itself where p is 0. On a card what is drawn follows SeedDevice.
func (s *Scope) Dropout(t *Tensor, p float64, rng *RNG) *Tensor {
	if p == 0 {
		return t
	}
	out, msg := native.Dropout(t.n("Dropout"), nil, p, rng.key())
	return s.ownNative("Dropout", out, msg, t)
}

// AddDropout is residual + Dropout(t), of the same shape, in one pass.
func (s *Scope) AddDropout(residual, t *Tensor, p float64, rng *RNG) *Tensor {
	out, msg := native.Dropout(t.n("AddDropout"), residual.n("AddDropout"), p, rng.keyFor(p))
	return s.ownNative("AddDropout", out, msg, residual, t)
}

// ReluDropout is Dropout(max(t, 0)) in one pass.
func (s *Scope) ReluDropout(t *Tensor, p float64, rng *RNG) *Tensor {
	out, msg := native.ReluDropout(t.n("ReluDropout"), p, rng.keyFor(p))
	return s.ownNative("ReluDropout", out, msg, t)
}
