package counted

import (
	"context"
	"errors"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/model/train/fit"
)

// Sizes are the models that are counted, by their names.
func Sizes() map[string]roofline.Model {
	return map[string]roofline.Model{"tiny": roofline.Tiny(), "small": roofline.Small(), "base": roofline.Base()}
}

// Config is the configuration of a T5 1.0 of these sizes.
func Config(m roofline.Model) t5.Config {
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DFF, c.NumHeads, c.DKV = m.Vocabulary, m.Width, m.FF, m.Heads, m.Inner/m.Heads
	c.NumLayers, c.NumDecoderLayers = m.Encoder, m.Decoder
	return c
}

// Batches are drawn.Batch's, by their names.
func Batches() map[string]*train.Batch {
	all := map[string]*train.Batch{}
	for _, name := range []string{"full", "real", "atomic"} {
		inputs, targets := drawn.Batch(name)
		all[name] = &train.Batch{Inputs: inputs, Targets: targets}
	}
	return all
}

// Shape is a batch as roofline takes it.
func Shape(b *train.Batch) roofline.Batch {
	out := roofline.Batch{Examples: float64(len(b.Inputs))}
	for i := range b.Inputs {
		in, label := float64(len(b.Inputs[i])), float64(len(b.Targets[i]))
		out.InputTokens, out.LabelTokens = out.InputTokens+in, out.LabelTokens+label
		out.LongestInput, out.LongestLabel = max(out.LongestInput, in), max(out.LongestLabel, label)
	}
	return out
}

// types are the precisions by the names that steps have for them.
var types = map[string]tensor.DType{"fp32": tensor.F32, "bf16": tensor.BF16, "fp16": tensor.F16}

// count is Counts as roofline keeps them.
func count(into *roofline.Counted, f func()) error {
	return tensor.Run(func(*tensor.Scope) {
		c := tensor.Count(f)
		into.Launches, into.Operators, into.Syncs = c.Launches, c.Operators, c.Syncs
		into.Uploads, into.Up, into.Downloads, into.Down = c.Uploads, c.UploadBytes, c.Downloads, c.DownloadBytes
		into.Flops, into.Bytes, into.Peak = c.Flops, c.Bytes, c.Peak
	})
}

// Train counts an update of a model of these sizes, after one of a few examples.
func Train(of string, sizes roofline.Model, batch, precision string) (c roofline.Counted, err error) {
	b := Batches()[batch]
	c = roofline.Counted{Operation: roofline.OpTrain, Of: of, Model: sizes, Precision: precision, Optimizer: "adafactor", Batch: Shape(b), Name: batch}
	defer tensor.EmulateShapes()()
	m, err := seq2seq.Init(Config(sizes), 1, tensor.CUDA(0))
	if err != nil {
		return c, err
	}
	defer m.Close()
	m.Compute = types[precision]
	o, err := adafactor.New(m.Params(), adafactor.Defaults())
	if err != nil {
		return c, err
	}
	defer o.Close()
	learner, err := fit.NewSeq2Seq(m, o, 1)
	if err != nil {
		return c, err
	}
	defer learner.Close()
	ctx := context.Background()
	few := &train.Batch{Inputs: b.Inputs[:2], Targets: b.Targets[:2]}
	if err := learner.Step(ctx, few, 0, 1e-3); err != nil {
		return c, err
	}
	if err := learner.Prepare(b); err != nil { // before the card is asked, as a training does
		return c, err
	}
	var failed error
	err = count(&c, func() { failed = learner.Step(ctx, b, 1, 1e-3) })
	return c, errors.Join(err, failed)
}
