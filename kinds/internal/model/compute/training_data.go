package compute

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// query is a labeled question.
type query struct {
	id     int64
	tokens []int32
	grade  int32 // how relevant its document is; 0: not said
	target int   // place of its document among the identifiers; one with several is a query for each, one after another
}

// readQueries reads the questions of one split, tokenized, and pairs those of all
// splits with identifiers.
func readQueries(x *step.IO, in step.Input, split nq.Split, ids *docid.Set, read retrieve.Reader) ([]query, error) {
	var qs []query
	pairing := ids.PairWith("queries")
	err := inout.EachQuery(x, in, "queries", func(q *dedup.Query) error {
		target, err := pairing.Find(int(q.Doc))
		if err != nil {
			return fmt.Errorf("%s example %d: %w", q.Split, q.ExampleID, err)
		}
		if q.Split == split {
			tokens, _ := read.Query(q.Question)
			qs = append(qs, query{q.ExampleID, tokens, q.Grade, target})
		}
		return nil
	})
	return qs, err
}

// trainingData makes the examples of a collection: one indexing example per
// document, one retrieval example per training query. byQueries repeats documents as
// often as they have training queries.
func trainingData(ctx context.Context, x *step.IO, corpusIn, queriesIn step.Input, ids *docid.Set, read retrieve.Reader, byQueries bool) (*train.Data, error) {
	d := &train.Data{}
	var places []int // of documents among the identifiers
	pairing := ids.PairWith("corpus")
	err := inout.EachDocument(ctx, x, corpusIn, func(doc *corpus.Document) error {
		place, err := pairing.Find(int(doc.Doc))
		if err != nil {
			return step.Permanent(err)
		}
		d.Indexing = append(d.Indexing, train.Example{Input: read.Document(doc.Text), Target: ids.Identifiers[place].Tokens})
		places = append(places, place)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := pairing.Complete(); err != nil {
		return nil, step.Permanent(err)
	}
	qs, err := readQueries(x, queriesIn, nq.Train, ids, read)
	if err != nil {
		return nil, err
	}
	asked := make([]int, len(ids.Identifiers))
	for _, q := range qs {
		d.Retrieval = append(d.Retrieval, train.Example{Input: q.tokens, Target: ids.Identifiers[q.target].Tokens})
		asked[q.target]++
	}
	if byQueries {
		for _, place := range places {
			d.Repeats = append(d.Repeats, max(1, asked[place]))
		}
	}
	inout.Count(x, map[string]int{"indexing_examples": len(d.Indexing), "retrieval_examples": len(d.Retrieval)})
	return d, nil
}
