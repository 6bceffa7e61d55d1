package inout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
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

// Read gives an input to a reader and closes it. What the reader says is an error of the data,
// under the name that the step has for the input; "": under none.
func Read[T any](x *step.IO, in step.Input, name string, read func(io.Reader) (T, error)) (T, error) {
	r, err := x.Open(in)
	if err != nil {
		var none T
		return none, err
	}
	defer r.Close()
	v, err := read(r)
	if err != nil && name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, DataError(err)
}

// Scan is Read by a reader that returns nothing.
func Scan(x *step.IO, in step.Input, name string, read func(io.Reader) error) error {
	_, err := Read(x, in, name, func(r io.Reader) (struct{}, error) { return struct{}{}, read(r) })
	return err
}

// EachRow visits the documents of a collection.
func EachRow(x *step.IO, in step.Input, name string, visit func(*dedup.Document) error) error {
	return Scan(x, in, name, func(r io.Reader) error { return dedup.ReadDocuments(r, visit) })
}

// EachQuery visits the lines of queries, of all splits.
func EachQuery(x *step.IO, in step.Input, name string, visit func(*dedup.Query) error) error {
	return Scan(x, in, name, func(r io.Reader) error { return dedup.ReadQueries(r, -1, visit) })
}

// Write writes a whole output.
func Write(x *step.IO, output string, write func(io.Writer) error) error {
	w, err := x.Create(output)
	if err != nil {
		return err
	}
	return errors.Join(write(w), w.Close())
}

// WriteAll writes whole outputs by their names.
func WriteAll(x *step.IO, outputs map[string]func(io.Writer) error) error {
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if err := Write(x, name, outputs[name]); err != nil {
			return err
		}
	}
	return nil
}

// WriteText is Write in small pieces.
func WriteText(x *step.IO, output string, write func(*bufio.Writer) error) error {
	return Write(x, output, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(write(b), b.Flush())
	})
}

// WriteLines is Write of compressed JSON lines, each of which is put.
func WriteLines(x *step.IO, output string, each func(put func(any) error) error) error {
	return Write(x, output, func(w io.Writer) error { return dedup.WriteLines(w, each) })
}

// WriteFile writes a whole file of an output that is a tree.
func WriteFile(x *step.IO, output, name string, write func(io.Writer) error) error {
	w, err := x.CreateFile(output, name)
	if err != nil {
		return err
	}
	return errors.Join(write(w), w.Close())
}

// OpenTokenizer loads the one file of an attribute by load, which is a tokenizer's.
func OpenTokenizer[T any](x *step.IO, in step.Inputs, attribute string, load func(path string) (T, error)) (T, error) {
	path, err := OnlyFile(x, in, attribute)
	if err != nil {
		var none T
		return none, err
	}
	tok, err := load(path)
	return tok, step.Permanent(err)
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
	for d, err := range r.All() {
		if err != nil {
			return DataError(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := visit(&d); err != nil {
			return err
		}
	}
	return nil
}

// DocumentNames are the numbers of a collection's documents, which name them in
// identifiers, rankings and qrels.
func DocumentNames(x *step.IO, in step.Input) ([]string, error) {
	return ofDocuments(x, in, func(d *dedup.Document) string { return strconv.Itoa(int(d.Doc)) })
}

// DocumentKeys are the names that documents have outside of redsi.
func DocumentKeys(x *step.IO, in step.Input) ([]string, error) {
	return ofDocuments(x, in, func(d *dedup.Document) string { return d.Key })
}

// ofDocuments are a text of each document, in their order.
func ofDocuments(x *step.IO, in step.Input, text func(*dedup.Document) string) (all []string, err error) {
	err = EachRow(x, in, "", func(d *dedup.Document) error {
		all = append(all, text(d))
		return nil
	})
	return all, err
}

// ReadVectors reads embeddings whole.
func ReadVectors(x *step.IO, in step.Input) (npy.Matrix, error) {
	return Read(x, in, "", npy.Read)
}

// ReadIDs reads a collection's identifiers.
func ReadIDs(x *step.IO, in step.Input) (*docid.Set, error) { return Read(x, in, "", docid.Read) }

// WriteVectors writes the rows as embeddings; unit is what they stand for, in the plural.
func WriteVectors(x *step.IO, m npy.Matrix, unit string) error {
	x.Count(unit, int64(m.Rows))
	return Write(x, "embeddings", func(w io.Writer) error { return npy.Write(w, m) })
}

// WriteIDs writes a collection's identifiers as ids, and what they are like as report.
func WriteIDs(x *step.IO, set *docid.Set) error {
	stats, err := set.Statistics()
	if err != nil {
		return step.Permanent(fmt.Errorf("identifiers: %w", err))
	}
	x.Count("documents", int64(len(set.Identifiers)))
	return WriteAll(x, map[string]func(io.Writer) error{"ids": set.Write, "report": JSON(stats)})
}

// DataError marks what a reader says about the data itself as permanent. A
// failure of the store underneath is reported by IO in its place.
func DataError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return step.Permanent(err)
}
