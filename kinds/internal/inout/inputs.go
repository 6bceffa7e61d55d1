package inout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/step"
)

// OnlyFile is the path of an input that must be one file.
func OnlyFile(x *step.IO, ins step.Inputs, what string) (string, error) {
	if len(ins) != 1 {
		return "", step.Permanent(fmt.Errorf("%s must be one file, got %d artifacts", what, len(ins)))
	}
	files := x.Files(ins[0], what)
	if len(files) != 1 {
		return "", step.Permanent(fmt.Errorf("%s must be one file, got %d", what, len(files)))
	}
	return x.Path(files[0].Digest)
}

// OpenCorpus reads the texts of a collection; the function closes what it opened.
func OpenCorpus(x *step.IO, in step.Input) (*corpus.Reader, func(), error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, nil, err
	}
	rd, err := corpus.NewReader(r)
	if err != nil {
		r.Close()
		return nil, nil, DataError(err)
	}
	return rd, func() { rd.Close(); r.Close() }, nil
}

// EachDocument visits the texts of a collection. What visit returns is returned as it is.
func EachDocument(ctx context.Context, x *step.IO, in step.Input, visit func(*corpus.Document) error) error {
	r, done, err := OpenCorpus(x, in)
	if err != nil {
		return err
	}
	defer done()
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return DataError(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := visit(&d); err != nil {
			return err
		}
	}
}

// DocumentNames are the numbers of a collection's documents, which name them in
// identifiers, rankings and qrels.
func DocumentNames(x *step.IO, in step.Input) ([]string, error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var names []string
	err = dedup.ReadDocuments(r, func(d *dedup.Document) error {
		names = append(names, strconv.Itoa(int(d.Doc)))
		return nil
	})
	return names, DataError(err)
}

// ReadVectors reads embeddings whole.
func ReadVectors(x *step.IO, in step.Input) (kmeans.Matrix, error) {
	r, err := x.Open(in)
	if err != nil {
		return kmeans.Matrix{}, err
	}
	defer r.Close()
	m, err := docid.ReadVectors(r)
	return m, DataError(err)
}

// ReadIDs reads a collection's identifiers.
func ReadIDs(x *step.IO, in step.Input) (*docid.Set, error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	set, err := docid.Read(r)
	return set, DataError(err)
}

// WriteVectors writes the rows as embeddings; unit is what they stand for, in the plural.
func WriteVectors(x *step.IO, m kmeans.Matrix, unit string) error {
	w, err := x.Create("embeddings")
	if err != nil {
		return err
	}
	x.Count(unit, int64(m.Rows))
	return errors.Join(docid.WriteVectors(w, m), w.Close())
}

// WriteIDs writes a collection's identifiers as ids, and what they are like as report.
func WriteIDs(x *step.IO, set *docid.Set) error {
	w, err := x.Create("ids")
	if err != nil {
		return err
	}
	if err := errors.Join(set.Write(w), w.Close()); err != nil {
		return err
	}
	stats, err := set.Statistics()
	if err != nil {
		return step.Permanent(fmt.Errorf("identifiers: %w", err))
	}
	x.Count("documents", int64(len(set.Identifiers)))
	return WriteJSON(x, "report", stats)
}

// DataError marks what a reader says about the data itself as permanent. A
// failure of the store underneath is reported by IO in its place.
func DataError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return step.Permanent(err)
}
