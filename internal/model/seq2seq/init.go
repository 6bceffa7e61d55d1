package seq2seq

import (
	"fmt"

	"github.com/redsi/redsi/internal/model/tensor"
)

// Init is a model with random parameters, as transformers' _init_weights draws them; the
// same seed gives the same model on every machine.
func Init(c Config, seed uint64, device tensor.Device) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rng := &tensor.RNG{Seed: seed}
	return assemble(c, device, func(scope *tensor.Scope, s Spec) (*tensor.Tensor, error) {
		return s.Init.draw(scope, rng, device, s.Shape...), nil
	})
}

// Extend appends n tokens to the vocabulary, for document identifiers with tokens of their own, from Size of the old
// model on. The new rows are drawn as transformers' resize_token_embeddings draws them. Tensors with a row per token
// are new ones: an optimizer of the old tensors does not fit any more.
func (m *Model) Extend(n int64, seed uint64) error {
	if n < 1 {
		return fmt.Errorf("cannot extend the vocabulary by %d", n)
	}
	c := m.Config.Extended(n)
	if err := c.Validate(); err != nil {
		return err
	}
	return tensor.Try(func() {
		rng := &tensor.RNG{Seed: seed}
		for i, s := range Specs(c) {
			old := m.all[i].Tensor
			grown := -1
			for d, size := range s.Shape {
				if size != old.Dim(d) {
					grown = d
				}
			}
			if grown < 0 {
				continue
			}
			tensor.Within(func(inner *tensor.Scope) {
				shape := append([]int64(nil), s.Shape...)
				shape[grown] = n
				rows := s.Grown.draw(inner, rng, m.Device, shape...)
				m.all[i].Tensor = m.scope.Move(inner.Cat(int64(grown), inner.Detach(old), rows))
			})
			tensor.Free(old)
		}
		extended := build(c, m.Device, m.scope, m.all)
		extended.Compute, extended.Smoothing, extended.Checkpoint = m.Compute, m.Smoothing, m.Checkpoint
		m.forget()
		*m = *extended
	})
}
