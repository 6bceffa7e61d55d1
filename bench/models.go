//go:build !notorch

package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/redsi/redsi/internal/adafactor"
	"github.com/redsi/redsi/internal/t5"
	"github.com/redsi/redsi/internal/tensor"
)

// modelSteps is how many training steps are timed, after one that is not.
const modelSteps = 5

var modelLines = []line{
	{
		name: "train_step_vs_transformers", target: 1.15, value: perUnit,
		doc:  "a training step of T5 Efficient Tiny with Adafactor and dropout, 128 inputs of 32 tokens, against transformers 4.44.1",
		ours: onModel("train-step", "full"), peer: onModelPython("train_step.py", "full"),
	},
	{
		name: "train_step_real_lengths_vs_transformers", target: 1.5, value: perUnit,
		doc:  "the same with a quarter documents of 32 tokens and queries of 8 to 16, which transformers pads",
		ours: onModel("train-step", "real"), peer: onModelPython("train_step.py", "real"),
	},
	{
		name: "train_step_vs_bound", target: 0.65, value: perUnit, unlike: true,
		doc:  "the step of the first line, against its matrix products alone",
		ours: onModel("train-step", "full"), peer: onModel("matrix-products", "full"),
	},
}

// model is the folder of the weights that both sides train.
func (e *env) model() (string, error) {
	dir, err := e.keep("tiny1", func(dir string) error {
		command, err := e.python("models", "train_step.py", filepath.Join(dir, "model"), "--steps", "1")
		if err != nil {
			return err
		}
		_, err = start(e, command)
		return err
	})
	return filepath.Join(dir, "model"), err
}

func onModel(piece, lengths string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.model()
		return ours(piece, "-lengths="+lengths, folder), err
	}}
}

func onModelPython(script, lengths string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.model()
		if err != nil {
			return nil, err
		}
		return e.python("models", script, folder, "--lengths", lengths, "--threads", "2", "--steps", strconv.Itoa(modelSteps))
	}}
}

// trainStep times gradients and optimizer; Check is the loss before the first step,
// without dropout.
func trainStep(args []string) (sample, error) {
	var s sample
	m, batch, err := openModel(args)
	if err != nil {
		return s, err
	}
	defer m.Close()
	loss, err := m.Loss(batch)
	if err != nil {
		return s, err
	}
	s.Check = fmt.Sprintf("loss %.4f", loss)
	var params []adafactor.Parameter
	for _, p := range m.Params() {
		params = append(params, adafactor.Parameter{Name: p.Name, Tensor: p.Tensor})
	}
	optimizer, err := adafactor.New(params, adafactor.Defaults())
	if err != nil {
		return s, err
	}
	defer optimizer.Close()
	rng := &tensor.RNG{Seed: 1}
	for step := range modelSteps + 1 {
		lap := stopwatch()
		err := tensor.Run(func(s *tensor.Scope) {
			_, grads := m.Gradients(s, batch, rng, 1)
			optimizer.Step(grads, 1e-3)
		})
		if err != nil {
			return s, err
		}
		if step > 0 {
			s.Seconds += lap()
			s.Work++
		}
	}
	return s, nil
}

// openModel loads the weights and draws the batch, as the peer does.
func openModel(args []string) (*t5.Model, t5.Batch, error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	lengths := set.String("lengths", "full", "")
	if err := set.Parse(args); err != nil {
		return nil, t5.Batch{}, err
	}
	tensor.SetNumThreads(2)
	d := draw(1)
	var batch t5.Batch
	if *lengths == "full" {
		batch.Inputs = d.sequences(128, 32, 32)
		batch.Labels = d.sequences(128, 8, 8)
	} else {
		batch.Inputs = append(d.sequences(32, 32, 32), d.sequences(96, 8, 16)...)
		batch.Labels = d.sequences(128, 4, 8)
	}
	m, err := t5.Load(set.Arg(0), tensor.CPU)
	return m, batch, err
}

// draw is the peer's linear congruential generator.
type draw uint64

func (d *draw) below(n int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(*d>>33) % n
}

func (d *draw) sequences(n, low, high int) [][]int32 {
	all := make([][]int32, n)
	for i := range all {
		for range low + d.below(high-low+1) {
			all[i] = append(all[i], int32(2+d.below(32000)))
		}
	}
	return all
}

// matrixProducts does the products of one training step, forward and both of
// backward, on operands that lie ready: what the step cannot be faster than.
func matrixProducts(args []string) (sample, error) {
	var s sample
	m, batch, err := openModel(args)
	if err != nil {
		return s, err
	}
	defer m.Close()
	var from, to int64
	for i := range batch.Inputs {
		from, to = from+int64(len(batch.Inputs[i])), to+int64(len(batch.Labels[i]))
	}
	c := m.Config
	inner := c.NumHeads * c.DKV
	products := []struct{ rows, in, out, times int64 }{
		{from, c.DModel, inner, 4*c.NumLayers + 2*c.NumDecoderLayers}, // q, k, v, o; cross k, v
		{from, c.DModel, c.DFF, c.NumLayers}, {from, c.DFF, c.DModel, c.NumLayers},
		{to, c.DModel, inner, 6 * c.NumDecoderLayers}, // q, k, v, o; cross q, o
		{to, c.DModel, c.DFF, c.NumDecoderLayers}, {to, c.DFF, c.DModel, c.NumDecoderLayers},
		{to, c.DModel, c.VocabSize, 1},
	}
	rng := &tensor.RNG{Seed: 1}
	err = tensor.Run(func(scope *tensor.Scope) {
		for _, p := range products {
			x, w := scope.Normal(rng, 0, 1, p.rows, p.in), scope.Normal(rng, 0, 1, p.out, p.in)
			g := scope.Normal(rng, 0, 1, p.rows, p.out)
			wt, gt := scope.Transpose(w, 0, 1), scope.Transpose(g, 0, 1)
			once := func() {
				tensor.Within(func(in *tensor.Scope) {
					in.MatMul(x, wt)
					in.MatMul(g, w)
					in.MatMul(gt, x)
				})
			}
			once()
			lap := stopwatch()
			for range p.times * modelSteps {
				once()
			}
			s.Seconds += lap()
		}
	})
	s.Work = modelSteps
	return s, err
}

// modelPieces are what the group can be started again as.
var modelPieces = map[string]func([]string) (sample, error){
	"train-step":      trainStep,
	"matrix-products": matrixProducts,
}
