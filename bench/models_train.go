package main

import (
	"fmt"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
)

// trainBatch is that of drawn.Batch, as models take it.
func trainBatch(lengths string) seq2seq.Batch {
	inputs, labels := drawn.Batch(lengths)
	return seq2seq.Batch{Inputs: inputs, Labels: labels}
}

// trainWork is one training step, gradients and optimizer; the check is the loss
// before the first, without dropout.
func trainWork(args []string) (*workload, error) {
	m, lengths, err := openT5(args, "lengths", "full")
	if err != nil {
		return nil, err
	}
	batch := trainBatch(lengths)
	loss, err := m.Loss(batch)
	if err != nil {
		return nil, err
	}
	optimizer, err := adafactor.New(m.Params(), adafactor.Defaults())
	if err != nil {
		return nil, err
	}
	rng := &tensor.RNG{Seed: 1}
	step := func() (float64, error) {
		return 1, tensor.Run(func(s *tensor.Scope) {
			_, grads := m.Gradients(s, m.Prepare(batch), rng, seq2seq.Scale{})
			optimizer.Step(grads, 1e-3)
		})
	}
	return &workload{check: fmt.Sprintf("loss %.4f", loss), run: step, close: func() {
		optimizer.Close()
		m.Close()
	}}, nil
}

// trainProducts are the products of trainWork's step, forward and both of backward;
// attention's own are left out.
func trainProducts(args []string) (*workload, error) {
	m, lengths, err := openT5(args, "lengths", "full")
	if err != nil {
		return nil, err
	}
	defer m.Close()
	batch, c := trainBatch(lengths), m.Config.(t5.Config)
	var from, to int64
	for i := range batch.Inputs {
		from, to = from+int64(len(batch.Inputs[i])), to+int64(len(batch.Labels[i]))
	}
	return products(append(encoderProducts(c, from), append(decoderProducts(c, to, 1), product{to, c.DModel, c.VocabSize, 1})...), true)
}

// encoderProducts are those over tokens of input, the decoder's keys and values of
// them included.
func encoderProducts(c t5.Config, tokens int64) []product {
	inner := c.NumHeads * c.DKV
	return []product{
		{tokens, c.DModel, inner, 3*c.NumLayers + 2*c.NumDecoderLayers}, {tokens, inner, c.DModel, c.NumLayers},
		{tokens, c.DModel, c.DFF, c.NumLayers}, {tokens, c.DFF, c.DModel, c.NumLayers},
	}
}

// decoderProducts are those of so many steps over rows.
func decoderProducts(c t5.Config, rows, steps int64) []product {
	inner, n := c.NumHeads*c.DKV, c.NumDecoderLayers*steps
	return []product{
		{rows, c.DModel, inner, 4 * n}, {rows, inner, c.DModel, 2 * n},
		{rows, c.DModel, c.DFF, n}, {rows, c.DFF, c.DModel, n},
	}
}
