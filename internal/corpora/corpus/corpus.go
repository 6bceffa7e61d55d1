package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// Document is one document of a collection. Every serialization sets Text; the other parts are optional.
type Document struct {
	Doc       int32  `json:"doc"`                  // number in the collection, from zero
	Split     string `json:"split,omitempty"`      // of the record, where every record is a document
	ExampleID int64  `json:"example_id,omitempty"` // of that record
	Title     string `json:"title,omitempty"`
	Abstract  string `json:"abstract,omitempty"`
	Text      string `json:"text"`
}

// Writer writes documents in ascending order of their numbers.
type Writer struct {
	z    *zstd.Encoder
	enc  *json.Encoder
	last int32
	n    int64
}

// NewWriter starts a stream on w, which stays open after Close. One encoder thread makes the bytes independent of the machine.
func NewWriter(w io.Writer) (*Writer, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &Writer{z: z, enc: encoder(z), last: -1}, nil
}

func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// ErrOrder is wrapped by Write's error about a number that does not ascend.
var ErrOrder = errors.New("a corpus has each document once, in order")

// Write appends a document; numbers must ascend.
func (w *Writer) Write(d Document) error {
	if err := w.next(d.Doc); err != nil {
		return err
	}
	return w.enc.Encode(d)
}

// next counts a document.
func (w *Writer) next(doc int32) error {
	if doc <= w.last {
		return fmt.Errorf("document %d after document %d: %w", doc, w.last, ErrOrder)
	}
	w.last = doc
	w.n++
	return nil
}

func (w *Writer) Len() int64 { return w.n }

func (w *Writer) Close() error { return w.z.Close() }

type Reader struct {
	src  io.Reader
	head bytes.Buffer  // the bytes read from src by first, until the next call of Next
	z    *zstd.Decoder // nil: closed, or given up by first
	in   *unpack.Lines
	last int32
	end  bool
}

// NewReader reads from r. Close frees the decoder.
func NewReader(r io.Reader) (*Reader, error) {
	rd := &Reader{src: r, last: -1}
	return rd, rd.open(r)
}

func (r *Reader) open(src io.Reader) (err error) {
	if r.z, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1)); err == nil {
		r.in = unpack.WholeLines(r.z)
	}
	return err
}

// first is Next for an unread stream. It gives up the decoder until the next call of Next.
func (r *Reader) first() (Document, error) {
	r.Close()
	if err := r.open(io.TeeReader(r.src, &r.head)); err != nil {
		return Document{}, err
	}
	d, err := r.Next()
	r.Close()
	return d, err
}

// Next returns the next document, io.EOF after the last, and an error for anything but a complete stream of Writer.
func (r *Reader) Next() (Document, error) {
	switch {
	case r.end:
		return Document{}, io.EOF
	case r.z == nil && r.head.Len() == 0:
		return Document{}, fmt.Errorf("corpus, after document %d: %w", r.last, fs.ErrClosed)
	case r.z == nil:
		taken := r.head
		r.head = bytes.Buffer{}
		if err := r.open(io.MultiReader(&taken, r.src)); err != nil {
			return Document{}, err
		}
		r.last = -1
		if _, err := r.Next(); err != nil {
			return Document{}, err
		}
	}
	line, err := r.in.Next()
	if err == io.EOF {
		r.Close()
		r.end = true
		return Document{}, err
	}
	if err != nil {
		return Document{}, fmt.Errorf("corpus, after document %d: %w", r.last, err)
	}
	var d Document
	if err := values.Written(line, &d); err != nil {
		return Document{}, fmt.Errorf("corpus, after document %d: %w", r.last, err)
	}
	if d.Doc <= r.last {
		return Document{}, fmt.Errorf("corpus: document %d after document %d", d.Doc, r.last)
	}
	r.last = d.Doc
	return d, nil
}

// All yields the remaining documents, and at the end the error that ended reading, if any.
func (r *Reader) All() iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for {
			d, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(d, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) Close() {
	if r.z != nil {
		r.z.Close()
		r.z, r.in = nil, nil
	}
}

// Merge writes the documents of all streams, which must be unread, in order of their numbers. Memory holds one document
// of each stream, and the decoders of streams between their first and last document: one at a time if each begins where
// another has ended, as in a collection numbered by first records. A number in two streams is an error.
func Merge(w *Writer, streams []*Reader) error {
	heads := make([]*Document, len(streams)) // nil: the stream is at its end
	advance := func(i int, next func() (Document, error)) error {
		d, err := next()
		if heads[i] = &d; errors.Is(err, io.EOF) {
			heads[i], err = nil, nil
		}
		return err
	}
	for i, r := range streams {
		if err := advance(i, r.first); err != nil {
			return err
		}
	}
	for {
		first := -1
		for i, d := range heads {
			if d != nil && (first < 0 || d.Doc < heads[first].Doc) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}
		if err := w.Write(*heads[first]); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		if err := advance(first, streams[first].Next); err != nil {
			return err
		}
	}
}

// Concatenate writes the documents of all streams one stream after the other, renumbered from zero.
func Concatenate(w *Writer, streams []*Reader) error {
	n := int32(0)
	for _, r := range streams {
		for d, err := range r.All() {
			if err != nil {
				return err
			}
			d.Doc = n
			if err := w.Write(d); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

// Zip visits two corpora of one collection side by side. A document in only one of them is an error.
func Zip(a, b *Reader, visit func(a, b Document) error) error {
	for {
		da, errA := a.Next()
		db, errB := b.Next()
		switch endA, endB := errors.Is(errA, io.EOF), errors.Is(errB, io.EOF); {
		case endA && endB:
			return nil
		case errA != nil && !endA:
			return errA
		case errB != nil && !endB:
			return errB
		case endA || endB || da.Doc != db.Doc:
			return fmt.Errorf("the two corpora belong to different collections: they differ at documents %d and %d", da.Doc, db.Doc)
		}
		if err := visit(da, db); err != nil {
			return err
		}
	}
}
