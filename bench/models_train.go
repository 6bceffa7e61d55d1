package main

import (
	"fmt"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// trainWork is one training step, gradients and optimizer; the check is the loss
// before the first, without dropout.
func trainWork(args []string) (*workload, error) {
	return onDevice(args, func(p *placed, w *workload) error {
		m, err := p.open()
		if err != nil {
			return err
		}
		var batch seq2seq.Batch
		batch.Inputs, batch.Labels = drawn.Batch(p.lengths)
		loss, err := m.Loss(batch)
		if err != nil {
			return err
		}
		optimizer, err := adafactor.New(m.Params(), adafactor.Defaults())
		if err != nil {
			return err
		}
		p.later(optimizer.Close)
		w.check = fmt.Sprintf("loss %.4f", loss)
		rng := &tensor.RNG{Seed: 1}
		w.run = func() (float64, error) {
			return 1, tensor.Run(func(s *tensor.Scope) {
				_, grads := m.Gradients(s, m.Prepare(batch), rng, seq2seq.Scale{})
				optimizer.Step(grads, 1e-3)
			})
		}
		return nil
	})
}
