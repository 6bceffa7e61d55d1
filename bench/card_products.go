package main

import (
	"fmt"

	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
)

// flopsOf are the operations of products, forward and both of backward.
func flopsOf(all []product) (n float64) {
	for _, p := range all {
		n += 3 * 2 * float64(p.rows) * float64(p.in) * float64(p.out) * float64(p.times)
	}
	return n
}

// updateProducts are the products of cardTrain's mean update.
func (p *placed) updateProducts() ([]product, error) {
	m, err := models.Load(p.folder, tensor.CPU)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	c, ok := m.Config.(t5.Config)
	if !ok {
		return nil, fmt.Errorf("%s: a model of %T; products are counted of T5's", p.folder, m.Config)
	}
	var from, to int64
	inputs, labels := p.examples()
	for i := range inputs {
		from, to = from+int64(len(inputs[i])), to+int64(len(labels[i]))
	}
	from, to = from/int64(p.batches), to/int64(p.batches)
	return append(encoderProducts(c, from), append(decoderProducts(c, to, 1), product{to, c.DModel, c.VocabSize, 1})...), nil
}

// work is what so many operations are of what is counted, where an update has those of all.
func (p *placed) work(operations float64, all []product) (float64, error) {
	switch p.per {
	case "updates":
		return operations / flopsOf(all), nil
	case "flops":
		return operations, nil
	}
	return 0, fmt.Errorf("-per=%s; updates and flops are known", p.per)
}

// matrix is one of random numbers: a card computes faster with equal ones.
func (p *placed) matrix(s *tensor.Scope, rng *tensor.RNG, rows, columns int64) (made *tensor.Tensor) {
	tensor.Within(func(inner *tensor.Scope) {
		made = s.Move(inner.ToDType(inner.ToDevice(inner.Normal(rng, 0, 1, rows, columns), p.device), p.compute))
	})
	return made
}

// multiplying is a workload of products of so many operations, which once asks for. It waits for the card at the end.
func (p *placed) multiplying(w *workload, operations float64, all []product, prepare func(s *tensor.Scope, rng *tensor.RNG), once func()) error {
	work, err := p.work(operations, all)
	if err != nil {
		return err
	}
	scope := tensor.NewScope()
	p.later(scope.Close)
	var one *tensor.Tensor
	w.run = func() (float64, error) { return work, tensor.Try(func() { once(); one.Item() }) }
	return tensor.Try(func() {
		prepare(scope, &tensor.RNG{Seed: 1})
		one = scope.Full(1, tensor.F32, p.device, 1)
	})
}

// cardProducts are the products of a slice of cardTrain's updates, in the compute type.
func cardProducts(args []string) (*workload, error) {
	return onDevice(args, func(p *placed, w *workload) error {
		all, err := p.updateProducts()
		if err != nil {
			return err
		}
		type operands struct{ x, w, wt, g, gt *tensor.Tensor }
		var ready []operands
		return p.multiplying(w, float64(p.updates)*flopsOf(all), all, func(s *tensor.Scope, rng *tensor.RNG) {
			for _, each := range all {
				o := operands{x: p.matrix(s, rng, each.rows, each.in), w: p.matrix(s, rng, each.out, each.in), g: p.matrix(s, rng, each.rows, each.out)}
				o.wt, o.gt = s.Transpose(o.w, 0, 1), s.Transpose(o.g, 0, 1)
				ready = append(ready, o)
			}
		}, func() {
			for range p.updates {
				for i, each := range all {
					for range each.times {
						tensor.Within(func(s *tensor.Scope) {
							s.MatMul(ready[i].x, ready[i].wt)
							s.MatMul(ready[i].g, ready[i].w)
							s.MatMul(ready[i].gt, ready[i].x)
						})
					}
				}
			}
		})
	})
}

// cardLarge is a product of two large square matrices, again and again: the most that products get from a card.
func cardLarge(args []string) (*workload, error) {
	return onDevice(args, func(p *placed, w *workload) error {
		all, err := p.updateProducts()
		if err != nil {
			return err
		}
		const times = 20
		var x, wt *tensor.Tensor
		n := float64(p.square)
		return p.multiplying(w, times*2*n*n*n, all, func(s *tensor.Scope, rng *tensor.RNG) {
			x, wt = p.matrix(s, rng, p.square, p.square), s.Transpose(p.matrix(s, rng, p.square, p.square), 0, 1)
		}, func() {
			for range times {
				tensor.Within(func(s *tensor.Scope) { s.MatMul(x, wt) })
			}
		})
	})
}
