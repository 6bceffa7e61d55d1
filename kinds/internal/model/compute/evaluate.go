package compute

import (
	"context"
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
		Search: retrieve.Search{EarlyStopping: stopping.Rule(c.EarlyStopping), Validity: retrieve.ByTokens}}) // with the texts of what is invalid by tokens, it serves either validity
	if err != nil {
		return err
	}
	rankings := make([]trec.Ranking, len(queries))
	for i, q := range queries {
		rankings[i] = ranking(q.Name, found[i], ids, tok)
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

// warnSlow logs that another precision would be faster.
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

// ranking names the documents of a result, and spells what is not an identifier.
func ranking(query string, found decode.Result, ids *docid.Set, tok *subword.Subword) trec.Ranking {
	r := trec.Ranking{Query: query, Hypotheses: make([]trec.Hypothesis, len(found.Ranking))}
	for i, h := range found.Ranking {
		r.Hypotheses[i].Score = h.Score
		if h.Document < 0 {
			r.Hypotheses[i].Text = tok.Decode(h.Tokens, true)
			if ids.Kind.GrowsVocabulary() { // tokens that have no text
				r.Hypotheses[i].Text = fmt.Sprint(h.Tokens)
			}
		} else {
			r.Hypotheses[i].Document = ids.Identifiers[h.Document].Document
		}
	}
	return r
}
