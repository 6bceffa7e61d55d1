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

// readIDs reads a collection's identifiers.
func readIDs(x *step.IO, in step.Input) (*docid.Set, error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	set, err := docid.Read(r)
	return set, inout.DataError(err)
}

// query is a labeled question.
type query struct {
	tokens []int32
	doc    int32
}

// readQueries reads the questions of one split, tokenized.
func readQueries(x *step.IO, in step.Input, split nq.Split, docs int, read retrieve.Reader) ([]query, error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var qs []query
	err = dedup.ReadQueries(r, docs, func(q *dedup.Query) error {
		if q.Split == split {
			tokens, _ := read.Tokens(q.Question)
			qs = append(qs, query{tokens, q.Doc})
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
		if int(doc.Doc) >= len(ids.Identifiers) {
			return nil, step.Permanent(fmt.Errorf("document %d has no identifier; the corpus and the identifiers are of different collections", doc.Doc))
		}
		tokens, _ := read.Tokens(doc.Text)
		d.Indexing = append(d.Indexing, train.Example{Input: tokens, Target: ids.Identifiers[doc.Doc].Tokens})
	}
	if len(d.Indexing) != len(ids.Identifiers) {
		return nil, step.Permanent(fmt.Errorf("the corpus has %d documents, the identifiers are of %d", len(d.Indexing), len(ids.Identifiers)))
	}
	qs, err := readQueries(x, queriesIn, nq.Train, len(ids.Identifiers), read)
	if err != nil {
		return nil, err
	}
	for _, q := range qs {
		d.Retrieval = append(d.Retrieval, train.Example{Input: q.tokens, Target: ids.Identifiers[q.doc].Tokens})
	}
	x.Count("indexing_examples", int64(len(d.Indexing)))
	x.Count("retrieval_examples", int64(len(d.Retrieval)))
	return d, nil
}
