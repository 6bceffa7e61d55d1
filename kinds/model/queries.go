package model

import (
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

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
