package main

import (
	"fmt"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
)

// product is a matrix product of a workload: x [rows, in] by w [out, in], so often.
type product struct{ rows, in, out, times int64 }

func flopsOf(all ...product) (n float64) {
	for _, p := range all {
		n += 2 * float64(p.rows) * float64(p.in) * float64(p.out) * float64(p.times)
	}
	return n
}

// config is the model's, whose products are counted.
func (p *placed) config() (t5.Config, error) {
	m, err := models.Load(p.folder, tensor.CPU)
	if err != nil {
		return t5.Config{}, err
	}
	defer m.Close()
	c, ok := m.Config.(t5.Config)
	if !ok {
		return c, fmt.Errorf("%s: a model of %T; products are counted of T5's", p.folder, m.Config)
	}
	return c, nil
}

// updateProducts are the products of cardTrain's mean update.
func (p *placed) updateProducts() ([]product, error) {
	c, err := p.config()
	if err != nil {
		return nil, err
	}
	inputs, labels := p.examples()
	return stepProducts(c, count(inputs)/int64(p.batches), count(labels)/int64(p.batches)), nil
}

// matrix has random numbers: a card computes faster with equal ones.
func (p *placed) matrix(s *tensor.Scope, rng *tensor.RNG, rows, columns int64) (out *tensor.Tensor) {
	tensor.Within(func(inner *tensor.Scope) {
		out = s.Move(inner.ToDType(inner.ToDevice(inner.Normal(rng, 0, 1, rows, columns), p.device), p.compute))
	})
	return out
}

// multiply is a workload of products of ready operands; backward adds the two products of their gradients. A slice ends
// once the card is done.
func (p *placed) multiply(w *workload, work float64, all []product, backward bool, times int) error {
	type operands struct{ x, w, wt, g, gt *tensor.Tensor }
	var ready []operands
	scope := tensor.NewScope()
	p.later(scope.Close)
	var one *tensor.Tensor
	w.run = func() (float64, error) {
		return work, tensor.Try(func() {
			for i := range times * len(all) {
				o := ready[i%len(all)]
				for range all[i%len(all)].times {
					tensor.Within(func(s *tensor.Scope) {
						s.MatMul(o.x, o.wt)
						if backward {
							s.MatMul(o.g, o.w)
							s.MatMul(o.gt, o.x)
						}
					})
				}
			}
			one.Item()
		})
	}
	return tensor.Try(func() {
		rng := &tensor.RNG{Seed: 1}
		for _, each := range all {
			o := operands{x: p.matrix(scope, rng, each.rows, each.in), w: p.matrix(scope, rng, each.out, each.in)}
			o.wt = scope.Transpose(o.w, 0, 1)
			if backward {
				o.g = p.matrix(scope, rng, each.rows, each.out)
				o.gt = scope.Transpose(o.g, 0, 1)
			}
			ready = append(ready, o)
		}
		one = scope.Full(1, tensor.F32, p.device, 1)
	})
}

// cardProducts are the products of a slice of cardTrain's updates, in the compute type.
func cardProducts(p *placed, w *workload) error {
	all, err := p.updateProducts()
	if err != nil {
		return err
	}
	work := float64(p.updates)
	if p.flops {
		work *= 3 * flopsOf(all...) // backward has two of each
	}
	return p.multiply(w, work, all, true, p.updates)
}

// cardLarge is a product of two large square matrices, repeated: a card's most. Work is operations.
func cardLarge(p *placed, w *workload) error {
	const times = 20
	large := product{p.square, p.square, p.square, times}
	return p.multiply(w, flopsOf(large), []product{large}, false, 1)
}

// beamProducts are the products of searchWork's search: the first step has one row a query, the others one a beam.
func beamProducts(p *placed, w *workload) error {
	c, err := p.config()
	if err != nil {
		return err
	}
	tokens, queries := 0, int64(p.queries)
	draw := drawn.Numbers(3)
	for _, q := range draw.Sequences(p.queries, 8, 16) {
		tokens += len(q)
	}
	rows := queries * 40
	all := encoderProducts(c, int64(tokens))
	all = append(all, decoderProducts(c, queries, 1)...)
	all = append(all, decoderProducts(c, rows, beamTokens-1)...)
	all = append(all, product{queries, c.DModel, c.VocabSize, 1}, product{rows, c.DModel, c.VocabSize, beamTokens - 1})
	return p.multiply(w, float64(queries), all, false, 1)
}

// trainProducts are the products of trainWork's step, forward and both of backward, without attention's own.
func trainProducts(p *placed, w *workload) error {
	c, err := p.config()
	if err != nil {
		return err
	}
	inputs, labels := drawn.Batch(p.lengths)
	return p.multiply(w, 1, stepProducts(c, count(inputs), count(labels)), true, 1)
}

func count(sequences [][]int32) (n int64) {
	for _, s := range sequences {
		n += int64(len(s))
	}
	return n
}

// stepProducts are the products of a training step over so many tokens.
func stepProducts(c t5.Config, inputs, labels int64) []product {
	return append(encoderProducts(c, inputs), append(decoderProducts(c, labels, 1), product{labels, c.DModel, c.VocabSize, 1})...)
}

// encoderProducts are the products over tokens of input, with the decoder's keys and values of them.
func encoderProducts(c t5.Config, tokens int64) []product {
	inner := c.NumHeads * c.DKV
	return []product{
		{tokens, c.DModel, inner, 3*c.NumLayers + 2*c.NumDecoderLayers}, {tokens, inner, c.DModel, c.NumLayers},
		{tokens, c.DModel, c.DFF, c.NumLayers}, {tokens, c.DFF, c.DModel, c.NumLayers},
	}
}

// decoderProducts are the products of so many steps over rows.
func decoderProducts(c t5.Config, rows, steps int64) []product {
	inner, n := c.NumHeads*c.DKV, c.NumDecoderLayers*steps
	return []product{
		{rows, c.DModel, inner, 4 * n}, {rows, inner, c.DModel, 2 * n},
		{rows, c.DModel, c.DFF, n}, {rows, c.DFF, c.DModel, n},
	}
}
