package compute

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/here"
	"github.com/redsi/redsi/internal/model/index"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/ranking/doc2query"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

func runEvaluateShard(ctx context.Context, x *step.IO, c model.EvaluateShardConfig) error {
	settings, ids, queries, err := c.Read(x)
	if err != nil {
		return err
	}
	queries = queries[c.From:c.To]
	tok, read, err := openTokenizer(x, c.Tokenizer, settings.Inputs.Reader)
	if err != nil {
		return err
	}
	defer tok.Close()
	tokens := make([][]int32, len(queries))
	for i, q := range queries {
		tokens[i], _ = read.Query(q.Text)
	}
	m, err := loadModel(ctx, x, c.Model, c.Device, c.Precision)
	if err != nil {
		return err
	}
	defer m.Close()
	found, err := search(ctx, x, m, ids, tok, tokens, retrieve.Options{Width: c.Beams, Constrained: c.Decoding == model.Constrained, LengthPenalty: c.LengthPenalty, Batch: c.Batch,
		Search: retrieve.Search{EarlyStopping: stopping.Rule(c.EarlyStopping), Validity: retrieve.ByTokens}}) // it serves either validity: what is invalid by tokens has its text
	if err != nil {
		return err
	}
	rankings := make([]trec.Ranking, len(queries))
	for i, q := range queries {
		rankings[i] = ranking(q.Name, found[i], ids)
		for k, h := range found[i].Ranking {
			switch {
			case h.Document >= 0:
			case ids.Kind.GrowsVocabulary(): // by tokens without a text
				rankings[i].Hypotheses[k].Text = fmt.Sprint(h.Tokens)
			default:
				rankings[i].Hypotheses[k].Text = tok.Decode(h.Tokens, true)
			}
		}
	}
	err = inout.Write(x, "run", func(w io.Writer) error { return trec.WriteRun(w, inout.RunTag, rankings, trec.EncodeName) })
	if err != nil {
		return err
	}
	return inout.WriteJSON(x, "report", model.ShardReport{Identifiers: settings.Identifiers, Parameters: seq2seq.ParameterCount(m.Config)})
}

func loadModel(ctx context.Context, x *step.IO, in step.Input, on, precision string) (*seq2seq.Model, error) {
	d, err := here.Of(ctx, on)
	if err != nil {
		return nil, err
	}
	folder, err := inout.StageTree(x, in, seq2seq.ConfigFile, seq2seq.WeightsFile)
	if err != nil {
		return nil, err
	}
	m, err := models.LoadIn(folder, d, precision)
	if err != nil {
		return nil, step.Permanent(fmt.Errorf("model: %w", err))
	}
	logUnused(x, m.Unused)
	warnSlow(x, m)
	return m, nil
}

// warnSlow warns if another precision would be faster.
func warnSlow(x *step.IO, m *seq2seq.Model) {
	if warning := m.Slow(); warning != "" {
		x.Log.Warn(warning)
	}
}

func search(ctx context.Context, x *step.IO, m *seq2seq.Model, ids *docid.Set, tok *subword.Subword, queries [][]int32, o retrieve.Options) ([]decode.Result, error) {
	x.Report(step.Progress{Total: int64(len(queries)), Unit: "queries"})
	catalog, err := index.NewCatalog(ids, tok)
	if err != nil {
		return nil, step.Permanent(err)
	}
	of, err := index.New(m, catalog)
	if err != nil {
		return nil, step.Permanent(err)
	}
	defer of.Close()
	of.Warn(func(text string) { x.Log.Warn(text) })
	found, err := of.Search(ctx, queries, o, func(done int) {
		x.Report(step.Progress{Done: int64(done), Total: int64(len(queries)), Unit: "queries"})
	})
	return found, inout.DataError(err)
}

// ranking names the documents of a result.
func ranking(query string, found decode.Result, ids *docid.Set) trec.Ranking {
	r := trec.Ranking{Query: query, Hypotheses: make([]trec.Hypothesis, len(found.Ranking))}
	for i, h := range found.Ranking {
		r.Hypotheses[i].Score = h.Score
		if h.Document >= 0 {
			r.Hypotheses[i].Document = ids.Identifiers[h.Document].Document
		}
	}
	return r
}

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

func generate(ctx context.Context, x *step.IO, c model.GenerateShardConfig, m *seq2seq.Model, inputs [][]int32, keys []uint64, report func(int)) ([][]decode.Hypothesis, error) {
	s, err := decode.NewSearcher(m)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	s.Warn = func(text string) { x.Log.Warn(text) }
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

// documents returns the tokens that the model reads of the part's documents, and the documents' numbers.
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
