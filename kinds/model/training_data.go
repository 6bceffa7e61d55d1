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
	"github.com/redsi/redsi/internal/retrieve"
	"github.com/redsi/redsi/internal/tokenize"
	"github.com/redsi/redsi/internal/train"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// openReader is how texts become model input: the choices that the paper's table of
// examples shows. Its tokenizer is the caller's to close.
func openReader(x *step.IO, tokenizer step.Inputs, maxInput int, lowercase bool) (retrieve.Reader, error) {
	path, err := inout.OnlyFile(x, tokenizer, "tokenizer")
	if err != nil {
		return retrieve.Reader{}, err
	}
	tok, err := tokenize.LoadSubword(path)
	return retrieve.Reader{Tokenizer: tok, MaxInput: maxInput, Lowercase: lowercase}, step.Permanent(err)
}

// query is a labeled question.
type query struct {
	id     int64
	tokens []int32
	target int // place of its document among the identifiers; one with several is a query for each, one after another
}

// readQueries reads the questions of one split, tokenized, and pairs those of all
// splits with identifiers.
func readQueries(x *step.IO, in step.Input, split nq.Split, ids *docid.Set, read retrieve.Reader) ([]query, error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var qs []query
	err = eachQuery(r, ids, func(q *dedup.Query, target int) error {
		if q.Split == split {
			tokens, _ := read.Tokens(q.Question)
			qs = append(qs, query{q.ExampleID, tokens, target})
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
func trainingData(ctx context.Context, x *step.IO, corpusIn, queriesIn step.Input, ids *docid.Set, read retrieve.Reader) (*train.Data, error) {
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
		tokens, _ := read.Tokens(doc.Text)
		d.Indexing = append(d.Indexing, train.Example{Input: tokens, Target: ids.Identifiers[place].Tokens})
	}
	if err := pairing.Complete(); err != nil {
		return nil, step.Permanent(err)
	}
	qs, err := readQueries(x, queriesIn, nq.Train, ids, read)
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
