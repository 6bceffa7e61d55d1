package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/model/train/fit"
	"github.com/redsi/redsi/step"
)

// Answer is Measure for rates.Call.
func Answer(ctx context.Context, args json.RawMessage) (any, error) {
	var a rates.Ask
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, err
	}
	return Measure(ctx, a)
}

// trial is one model on one device.
type trial struct {
	rates.Ask
	ctx    context.Context
	device tensor.Device
	rows   int // that the model has for documents
	found  []rates.Rate
}

// Measure is how fast a model of a shape does what steps ask of it.
func Measure(ctx context.Context, a rates.Ask) ([]rates.Rate, error) {
	runtime.LockOSThread() // libtorch keeps a pool of threads per thread that calls it
	defer runtime.UnlockOSThread()
	t := &trial{Ask: a, ctx: ctx, device: tensor.CPU}
	if a.Card {
		var err error
		if t.device, err = tensor.ParseDevice("cuda:0"); err != nil {
			return nil, err
		}
	}
	do := t.trained
	if a.Shape.Encoder {
		do = t.embedded
	}
	err := do()
	return t.found, err
}

// trained measures searches and updates of a model, and then of the model with a token for each of few documents, and
// of all.
func (t *trial) trained() error {
	m, err := seq2seq.Init(Config(t.Shape), 1, t.device)
	if err != nil {
		return err
	}
	defer m.Close()
	draw := drawn.Numbers(3)
	trie, err := docid.NewTrie(draw.Identifiers(t.Documents))
	if err != nil {
		return err
	}
	first := m.Vocabulary().Size
	for _, do := range []func() error{
		func() error { return t.searches(m, step.Searches, nil) },
		func() error { return t.searches(m, step.Constrained, trie) },
		func() error { return t.updates(m, "") },
		func() error { return t.atomic(m, first, 1) },
		func() error { return t.atomic(m, first, t.Documents) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) atomic(m *seq2seq.Model, first int64, documents int) error {
	if err := m.Extend(int64(documents-t.rows), 2); err != nil {
		return err
	}
	t.rows = documents
	if err := t.rankings(m, first); err != nil {
		return err
	}
	return t.updates(m, "atomic")
}

// Config is the configuration of a T5 of a shape.
func Config(s rates.Shape) t5.Config {
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DFF, c.NumHeads, c.DKV = int64(s.Vocabulary), int64(s.Width), int64(s.FF), int64(s.Heads), 64
	c.NumLayers, c.NumDecoderLayers = int64(s.Layers), int64(s.Layers)
	return c
}

// longest is how many tokens an identifier has at most, its end included.
const longest = 4

func (t *trial) searches(m *seq2seq.Model, unit step.Unit, trie *docid.Trie) error {
	s, err := decode.NewSearcher(m)
	if err != nil {
		return err
	}
	defer s.Close()
	return t.queries(m, unit, func(queries [][]int32, together int) error {
		_, err := s.Search(t.ctx, queries, decode.NewBeam(longest, trie), together, nil)
		return err
	})
}

func (t *trial) rankings(m *seq2seq.Model, first int64) error {
	r, err := decode.NewRanker(m, first, int64(t.rows))
	if err != nil {
		return err
	}
	defer r.Close()
	return t.queries(m, step.Rankings, func(queries [][]int32, together int) error {
		_, err := r.Rank(t.ctx, queries, 40, together, nil)
		return err
	})
}

// queries measures what answers them, as many as there is time for: in float32, and where a card's trainings
// evaluate by it, in theirs.
func (t *trial) queries(m *seq2seq.Model, unit step.Unit, answer func(queries [][]int32, together int) error) error {
	together := 32
	if t.Card {
		together = 0 // as many as there is room for
	}
	draw := drawn.Numbers(7)
	queries := draw.Sequences(4096, 8, 16)
	measure := func(unit step.Unit, compute tensor.DType) error {
		m.Compute = compute
		found, err := t.pace([]int{2, 8, 32, 128, 512, 4096}, func(n int) error { return answer(queries[:n], together) }, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", unit, err)
		}
		last := found[len(found)-1]
		t.add(rates.Rate{Unit: unit, PerSecond: float64(last.n) / last.took})
		return nil
	}
	err := measure(unit, tensor.F32)
	if err == nil && t.Card && unit != step.Constrained {
		err = measure(unit.InTraining(), tensor.F16)
	}
	return err
}

// updates measures the updates of a training: examples of a quarter documents of 32 tokens and queries of 8 to 16, in
// float32 on a CPU and fp16 on a card; with a token for each document, documents of 64 tokens as in the paper.
func (t *trial) updates(m *seq2seq.Model, identifiers string) error {
	m.Compute = tensor.F32
	if t.Card {
		m.Compute = tensor.F16
	}
	m.Changed()
	o, err := optimizer.NewAdafactor(m.Params, optimizer.AdafactorDefaults())
	if err != nil {
		return err
	}
	learner, err := fit.NewSeq2Seq(m, o, 1)
	if err != nil {
		return err
	}
	defer learner.Close()
	draw := drawn.Numbers(1)
	inputs, labels := draw.Examples(t.Batch)
	if identifiers != "" {
		for i := range labels {
			labels[i] = labels[i][:1]
			if len(inputs[i]) == 32 {
				inputs[i] = append(inputs[i], inputs[i]...)
			}
		}
	}
	var at int64
	found, err := t.pace([]int{8, 32, t.Batch}, func(n int) error {
		at++
		return learner.Step(t.ctx, &train.Batch{Inputs: inputs[:n], Targets: labels[:n]}, at-1, 1e-3)
	}, func() error {
		_, err := learner.Losses(true)
		return err
	})
	if err != nil {
		return fmt.Errorf("updates: %w", err)
	}
	last := found[len(found)-1]
	r := rates.Rate{Unit: step.Updates, Identifiers: identifiers, PerSecond: 1 / last.took}
	if last.n < t.Batch {
		r.PerSecond, r.Note = 1/timeFor(found, t.Batch), fmt.Sprintf("from updates of at most %d examples", last.n)
	}
	t.add(r)
	return nil
}

// maxPositions is how long a text of BERT may be.
const maxPositions = 512

// embedded measures an encoder that reads documents.
func (t *trial) embedded() error {
	s := t.Shape
	config, err := json.Marshal(map[string]any{"model_type": "bert", "vocab_size": s.Vocabulary, "hidden_size": s.Width, "num_hidden_layers": s.Layers,
		"num_attention_heads": s.Heads, "intermediate_size": s.FF, "max_position_embeddings": maxPositions})
	if err != nil {
		return err
	}
	m, err := bert.Zeros(config, t.device)
	if err != nil {
		return err
	}
	defer m.Close()
	draw := drawn.Numbers(5)
	texts := draw.Sequences(256, maxPositions, maxPositions)
	for _, text := range texts {
		for i := range text {
			text[i] %= int32(t.Shape.Vocabulary)
		}
	}
	found, err := t.pace([]int{1, 4, 16, 64, 256}, func(n int) error {
		_, err := m.Embed(texts[:n], bert.CLS, 8192)
		return err
	}, nil)
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	last := found[len(found)-1]
	t.add(rates.Rate{Unit: step.Tokens, PerSecond: float64(last.n*maxPositions) / last.took})
	return nil
}
