package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/system/lists"
)

// IDs is the naming of documents, and of queries with names, in an export.
type IDs string

const (
	ByNumber IDs = "number" // position in the collection, from zero; default
	ByKey    IDs = "key"    // deduplication key, or names outside of redsi: trec.Outside
)

// Grouping is a collection stored by dedup, with its texts, identifiers and judgments.
type Grouping struct {
	Documents, Queries io.Reader
	IDs                IDs
	Text               func(*dedup.Document) (string, error) // "" for a document without text; nil: export without texts
	Examples           func(doc int32) []int64               // from ExamplesOf, for Redsi; else nil
	Identifiers        map[string]*docid.Set                 // by type; their documents are numbers
	Variant            nq320k.Variant                        // for Redsi
	Judgments          *trec.Judgments                       // by number, in place of the queries' grades; nil: none
}

// FromGrouping returns the collection of a grouping, to be read once.
func FromGrouping(g Grouping) Collection {
	var names []string // of documents, for the targets of queries
	var documents trec.Outside
	queries := trec.Outside{Queries: true}
	name := func(o *trec.Outside, number, key string) (string, error) {
		if g.IDs != ByKey {
			return number, nil
		}
		return o.Name(number, key)
	}
	c := Collection{
		Variant: g.Variant,
		Renamed: func() int { return documents.Renamed + queries.Renamed },
		Documents: yielded(func(yield func(*Document) error) error {
			return dedup.ReadDocuments(g.Documents, func(d *dedup.Document) error {
				id, err := name(&documents, strconv.Itoa(int(d.Doc)), d.Key)
				if err != nil {
					return err
				}
				names = append(names, id)
				out := Document{
					ID: id, Title: d.Title, Key: d.Key, URL: d.URL, OldID: d.OldID, PageID: d.PageID,
					ExampleID: d.ExampleID, Train: d.Train, Dev: d.Dev, Test: d.Test, URLTitle: nq320k.TitleOf(d),
				}
				if g.Examples != nil {
					out.Examples = g.Examples(d.Doc)
				}
				if g.Text != nil {
					t, err := g.Text(d)
					if err != nil {
						return fmt.Errorf("text of document %d (%s): %w", d.Doc, d.Title, err)
					}
					out.Text = t
				}
				return yield(&out)
			})
		}),
		Queries: yielded(func(yield func(*Query) error) error {
			return dedup.ReadQueries(g.Queries, len(names), func(q *dedup.Query) error {
				out := Query{ID: strconv.FormatInt(q.ExampleID, 10), Split: q.Split, Text: q.Question, DocID: names[q.Doc], Grade: q.Grade, Graded: q.Name != ""}
				var err error
				if g.Judgments != nil {
					if out.Judged, err = judged(g.Judgments, out.ID, names); err != nil {
						return err
					}
				}
				if out.ID, err = name(&queries, out.ID, cmp.Or(q.Name, out.ID)); err != nil {
					return err
				}
				return yield(&out)
			})
		}),
	}
	for _, name := range slices.Sorted(maps.Keys(g.Identifiers)) {
		set := g.Identifiers[name]
		c.Identifiers = append(c.Identifiers, Identifiers{name, yielded(func(yield func(*Identifier) error) error {
			for _, id := range set.Identifiers {
				doc, err := strconv.Atoi(id.Document)
				if err != nil || doc < 0 || doc >= len(names) {
					return fmt.Errorf("%s identifiers: document %q is not among the collection's %d", name, id.Document, len(names))
				}
				if err := yield(&Identifier{names[doc], id.Text, id.Tokens}); err != nil {
					return err
				}
			}
			return nil
		})})
	}
	return c
}

// judged returns a query's judgments with names of documents in place of numbers.
func judged(q *trec.Judgments, query string, names []string) ([]Judgment, error) {
	out := []Judgment{}
	for document, grade := range q.Of(query) {
		doc, err := strconv.Atoi(document)
		if err != nil || doc < 0 || doc >= len(names) {
			return nil, fmt.Errorf("qrels: document %q of query %s is not among the collection's %d", document, query, len(names))
		}
		out = append(out, Judgment{names[doc], int32(grade)})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("qrels: query %s has no judgments: give the judgments of all splits of the collection", query)
	}
	return out, nil
}

// ExamplesOf returns a function for a document's example ids, dev first, without repeats. Memory: 50 bytes a document and 8
// a query.
func ExamplesOf(queries io.Reader) (func(doc int32) []int64, error) {
	dev, train := map[int32][]int64{}, map[int32][]int64{} // by document
	err := dedup.ReadQueries(queries, -1, func(q *dedup.Query) error {
		split := train
		if q.Split == nq.Dev {
			split = dev
		}
		split[q.Doc] = append(split[q.Doc], q.ExampleID)
		return nil
	})
	return func(doc int32) []int64 { return lists.Unique(slices.Concat(dev[doc], train[doc])) }, err
}

// yielded turns a reader with callbacks into a sequence that ends with its error.
func yielded[T any](read func(yield func(*T) error) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		stopped := errors.New("reading was stopped")
		err := read(func(v *T) error {
			if !yield(v, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(nil, err)
		}
	}
}
