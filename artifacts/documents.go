package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
)

// RecordNames lists names first: a store is not changed while it is listed.
func RecordNames(ctx context.Context, records RecordReader, prefix string) ([]string, error) {
	var names []string
	for r, err := range records.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// Document is a record with its text.
type Document struct {
	Name string
	Text []byte
}

// DocumentsIn reads the records whose names begin with prefix, which it lists first.
func DocumentsIn(ctx context.Context, records RecordReader, prefix string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		names, err := RecordNames(ctx, records, prefix)
		if err != nil {
			yield(Document{}, err)
			return
		}
		Documents(ctx, records, names)(yield)
	}
}

// PutJSON stores a value as a document.
func PutJSON(ctx context.Context, records Records, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return records.Put(ctx, name, b)
}

// getter reads records by name.
type getter interface {
	Get(ctx context.Context, name string) ([]byte, error)
}

// Documents reads records in the order of names. One that is deleted meanwhile is left out;
// the first error ends it.
func Documents(ctx context.Context, records getter, names []string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, name := range names {
			text, err := records.Get(ctx, name)
			if errors.Is(err, ErrNotExist) {
				continue
			}
			if !yield(Document{name, text}, err) || err != nil {
				return
			}
		}
	}
}
