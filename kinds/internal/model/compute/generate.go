package compute

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/here"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/ranking/doc2query"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

func runGenerateShard(ctx context.Context, x *step.IO, c model.GenerateShardConfig) error {
	on, err := here.Of(ctx, c.Device)
	if err != nil {
		return err
	}
	tok, read, err := openTokenizer(x, c.Tokenizer, doc2query.Settings{MaxInput: c.MaxInput, MaxQuery: c.MaxTokens, Prefix: c.Prefix, Lowercase: c.Lowercase}.Reader)
	if err != nil {
		return err
	}
	defer tok.Close()
	inputs, keys, err := documents(ctx, x, c, read)
	if err != nil {
		return err
	}
	m, err := training{model.TrainConfig{Model: c.Model, Fitting: model.Fitting{Init: "weights", Precision: "fp32"}}}.model(x, on)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.SearchIn(c.Precision); err != nil {
		return step.Permanent(fmt.Errorf("precision: %w", err))
	}
	warnSlow(x, m)
	for i, tokens := range inputs {
		for _, t := range tokens {
			if size := m.Vocabulary().Size; int64(t) >= size {
				return step.Permanent(fmt.Errorf("document %d: the tokenizer gives token %d, the model's vocabulary has %d: they do not belong together", keys[i], t, size))
			}
		}
	}
	found, err := generate(ctx, x, c, m, inputs, keys, func(done int) {
		x.Report(step.Progress{Done: int64(done), Total: int64(len(inputs)), Unit: "documents"})
	})
	if err != nil {
		return inout.DataError(err)
	}
	return inout.WriteLines(x, "generated", func(put func(any) error) error {
		for i, list := range found {
			for n, h := range list {
				if err := put(&doc2query.Generated{Doc: int32(keys[i]), Number: n, Query: tok.Decode(h.Tokens, true)}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// onCPU is how many documents a CPU decodes together where batch does not say.
const onCPU = 8

// generate writes the queries of documents.
func generate(ctx context.Context, x *step.IO, c model.GenerateShardConfig, m *seq2seq.Model, inputs [][]int32, keys []uint64, report func(int)) ([][]decode.Hypothesis, error) {
	s, err := decode.NewSearcher(m)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	s.Warn(func(text string) { x.Log.Warn(text) })
	if c.Batch == 0 && !m.Device.IsCUDA() {
		c.Batch = onCPU
	}
	if c.Method == model.ByBeam {
		b := decode.NewBeam(c.MaxTokens, nil)
		b.Width, b.Return, b.LengthPenalty, b.EarlyStopping = c.Beams, c.PerDocument, c.LengthPenalty, stopping.Rule(c.EarlyStopping)
		return s.Search(ctx, inputs, b, c.Batch, report)
	}
	return s.Sample(ctx, inputs, keys, decode.Sampling{Samples: c.PerDocument, MaxTokens: c.MaxTokens,
		TopK: c.TopK, TopP: c.TopP, Temperature: c.Temperature, Seed: uint64(c.Seed)}, c.Batch, report)
}

// documents reads what the model reads of the part's documents, and their numbers.
func documents(ctx context.Context, x *step.IO, c model.GenerateShardConfig, read retrieve.Reader) (inputs [][]int32, keys []uint64, err error) {
	rd, done, err := inout.OpenCorpus(x, c.Corpus)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	for len(inputs) < c.To-c.From {
		d, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil, step.Permanent(fmt.Errorf("corpus has no document %d: give documents and corpus of the same collection", c.From+len(inputs)))
		} else if err != nil {
			return nil, nil, inout.DataError(err)
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		switch due := c.From + len(inputs); {
		case int(d.Doc) < c.From:
		case int(d.Doc) != due:
			return nil, nil, step.Permanent(fmt.Errorf("corpus has document %d where %d was expected: give documents and corpus of the same collection", d.Doc, due))
		default:
			inputs, keys = append(inputs, read.Document(d.Text)), append(keys, uint64(d.Doc))
		}
	}
	return inputs, keys, nil
}
