package model

import (
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/retrieve"
	"github.com/redsi/redsi/internal/tokenize"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// openReader opens a model's tokenizer, the caller's to close, and reads with it as in says.
func openReader(x *step.IO, tokenizer step.Inputs, in retrieve.Inputs) (retrieve.Reader, error) {
	path, err := inout.OnlyFile(x, tokenizer, "tokenizer")
	if err != nil {
		return retrieve.Reader{}, err
	}
	tok, err := tokenize.LoadSubword(path)
	if err != nil {
		return retrieve.Reader{}, step.Permanent(err)
	}
	read, err := in.Reader(tok)
	if err != nil {
		tok.Close()
	}
	return read, step.Permanent(err)
}

// eachQuery yields queries with the places of their documents among the identifiers.
func eachQuery(r io.Reader, ids *docid.Set, yield func(q *dedup.Query, target int) error) error {
	pairing := ids.PairWith("queries")
	return dedup.ReadQueries(r, -1, func(q *dedup.Query) error {
		target, err := pairing.Find(int(q.Doc))
		if err != nil {
			return fmt.Errorf("%s example %d: %w", q.Split, q.ExampleID, err)
		}
		return yield(q, target)
	})
}
