package export

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/dedup"
)

// IDs says how documents are named in an export.
type IDs string

// The names of documents.
const (
	ByNumber IDs = "number" // position in the collection, from zero; default
	ByKey    IDs = "key"    // deduplication key, white space and control characters as "_"
)

func underscored(key string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, key)
}

// FromGrouping is the collection that dedup stored. text gives a document's
// serialized text ("" for none); nil exports without text. The collection can be
// read once.
func FromGrouping(documents, queries io.Reader, ids IDs, text func(*dedup.Document) (string, error)) (Collection, error) {
	switch ids {
	case "":
		ids = ByNumber
	case ByNumber, ByKey:
	default:
		return Collection{}, fmt.Errorf("there is no naming of documents %q; use %s or %s", ids, ByNumber, ByKey)
	}
	var names []string // of documents, for the targets of queries
	return Collection{
		Documents: pull(func(yield func(*Document) error) error {
			return dedup.ReadDocuments(documents, func(d *dedup.Document) error {
				id := strconv.Itoa(int(d.Doc))
				if ids == ByKey {
					id = underscored(d.Key)
				}
				names = append(names, id)
				out := Document{
					ID: id, Title: d.Title, Key: d.Key, URL: d.URL, OldID: d.OldID, PageID: d.PageID,
					ExampleID: d.ExampleID, Train: d.Train, Dev: d.Dev,
				}
				if text != nil {
					t, err := text(d)
					if err != nil {
						return fmt.Errorf("text of document %d (%s): %w", d.Doc, d.Title, err)
					}
					out.Text = t
				}
				return yield(&out)
			})
		}),
		Queries: pull(func(yield func(*Query) error) error {
			return dedup.ReadQueries(queries, len(names), func(q *dedup.Query) error {
				return yield(&Query{ID: strconv.FormatInt(q.ExampleID, 10), Split: q.Split, Text: q.Question, DocID: names[q.Doc]})
			})
		}),
	}, nil
}

// pull turns a reader with callbacks into a sequence that ends with its error.
func pull[T any](read func(yield func(*T) error) error) iter.Seq2[*T, error] {
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
