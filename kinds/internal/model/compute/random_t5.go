package compute

import (
	"cmp"
	"context"
	"strings"

	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

func runRandomT5(ctx context.Context, x *step.IO, c model.RandomT5Config) error {
	m, err := seq2seq.Init(sized(c), uint64(c.Seed), tensor.CPU)
	if err != nil {
		return step.Permanent(err)
	}
	defer m.Close()
	folder, err := x.Scratch()
	if err != nil {
		return err
	}
	if err := m.Save(folder); err != nil {
		return err
	}
	x.Count("parameters", seq2seq.ParameterCount(m.Config))
	return inout.CopyFolder(ctx, x, "model", folder)
}

// sized is the configuration of a model of these sizes.
func sized(c model.RandomT5Config) seq2seq.Config {
	if c.Family == "bart" {
		return sizedBART(c)
	}
	m := t5.DefaultsOf(c.Family)
	m.VocabSize, m.DModel, m.DKV, m.DFF = int64(c.Vocabulary), int64(c.DModel), int64(c.DKV), int64(c.DFF)
	m.NumLayers, m.NumDecoderLayers, m.NumHeads = int64(c.Layers), int64(cmp.Or(c.DecoderLayers, c.Layers)), int64(c.Heads)
	m.DropoutRate, m.FeedForward, m.TieEmbeddings = c.Dropout, c.FeedForward, !strings.HasPrefix(c.FeedForward, "gated-")
	return m
}

// sizedBART forces no token: scores of generation are the model's.
func sizedBART(c model.RandomT5Config) bart.Config {
	m := bart.Defaults()
	m.VocabSize, m.DModel, m.EncoderFFN, m.DecoderFFN = int64(c.Vocabulary), int64(c.DModel), int64(c.DFF), int64(c.DFF)
	m.EncoderLayers, m.DecoderLayers = int64(c.Layers), int64(cmp.Or(c.DecoderLayers, c.Layers))
	m.EncoderHeads, m.DecoderHeads, m.Dropout, m.ForcedEOS = int64(c.Heads), int64(c.Heads), c.Dropout, nil
	return m
}
