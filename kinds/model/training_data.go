//go:build !notorch

package model

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/nq"
	"github.com/redsi/redsi/internal/tokenize"
	"github.com/redsi/redsi/internal/train"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// modelText is how texts become model input: the choices that the paper's table
// of examples shows.
type modelText struct {
	t5        *tokenize.T5
	maxInput  int
	lowercase bool
}

func openModelText(x *step.IO, t5 step.Inputs, maxInput int, lowercase bool) (*modelText, error) {
	path, err := inout.OnlyFile(x, t5, "t5_tokenizer")
	if err != nil {
		return nil, err
	}
	tok, err := tokenize.LoadT5(path)
	if err != nil {
		return nil, step.Permanent(err)
	}
	return &modelText{t5: tok, maxInput: maxInput, lowercase: lowercase}, nil
}

// tokens are the first tokens of a text, </s> being the last of them.
func (m *modelText) tokens(text string) []int32 {
	if m.lowercase {
		text = dedup.Lower(text)
	}
	return m.t5.EncodeTruncated(text, m.maxInput)
}

func (m *modelText) close() { m.t5.Close() }

// query is a labeled question.
type query struct {
	tokens []int32
	target int // place of its document among the identifiers
}

// readQueries reads the questions of one split, tokenized, and pairs those of all
// splits with identifiers.
func readQueries(x *step.IO, in step.Input, split nq.Split, ids *docid.Set, text *modelText) ([]query, error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var qs []query
	err = eachQuery(r, ids, func(q *dedup.Query, target int) error {
		if q.Split == split {
			qs = append(qs, query{text.tokens(q.Question), target})
		}
		return nil
	})
	if err != nil {
		return nil, inout.DataError(fmt.Errorf("queries: %w", err))
	}
	return qs, nil
}

// trainingData makes the examples of a collection: one indexing example per
// document, one retrieval example per training query.
func trainingData(ctx context.Context, x *step.IO, corpusIn, queriesIn step.Input, ids *docid.Set, text *modelText) (*train.Data, error) {
	rd, done, err := inout.OpenCorpus(x, corpusIn)
	if err != nil {
		return nil, err
	}
	defer done()
	d := &train.Data{}
	pairing := ids.PairWith("corpus")
	for {
		doc, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, inout.DataError(err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		place, err := pairing.Find(int(doc.Doc))
		if err != nil {
			return nil, step.Permanent(err)
		}
		d.Indexing = append(d.Indexing, train.Example{Input: text.tokens(doc.Text), Target: ids.Identifiers[place].Tokens})
	}
	if err := pairing.Complete(); err != nil {
		return nil, step.Permanent(err)
	}
	qs, err := readQueries(x, queriesIn, nq.Train, ids, text)
	if err != nil {
		return nil, err
	}
	for _, q := range qs {
		d.Retrieval = append(d.Retrieval, train.Example{Input: q.tokens, Target: ids.Identifiers[q.target].Tokens})
	}
	x.Count("indexing_examples", int64(len(d.Indexing)))
	x.Count("retrieval_examples", int64(len(d.Retrieval)))
	return d, nil
}
