package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// Document is one document of a collection. Which parts a serialization sets is
// its own matter; Text is always the whole, as a model reads it.
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

// NewWriter starts a stream on w, which stays open after Close. One encoder
// thread is used: more would make the bytes depend on the machine.
func NewWriter(w io.Writer) (*Writer, error) { return newWriter(w) }

// runCompression is that of what only a Sorter reads: the window is what each reader of a merge holds.
var runCompression = []zstd.EOption{
	zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128 << 10), zstd.WithLowerEncoderMem(true),
}

func newWriter(w io.Writer, more ...zstd.EOption) (*Writer, error) {
	z, err := zstd.NewWriter(w, append([]zstd.EOption{zstd.WithEncoderConcurrency(1)}, more...)...)
	if err != nil {
		return nil, err
	}
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	return &Writer{z: z, enc: enc, last: -1}, nil
}

// ErrOrder is wrapped by Write's error about a number that does not ascend.
var ErrOrder = errors.New("a corpus has each document once, in order")

// Write appends a document; numbers must ascend.
func (w *Writer) Write(d Document) error {
	if d.Doc <= w.last {
		return fmt.Errorf("document %d after document %d: %w", d.Doc, w.last, ErrOrder)
	}
	w.last = d.Doc
	w.n++
	return w.enc.Encode(d)
}

// Len is the number of documents written.
func (w *Writer) Len() int64 { return w.n }

// Close completes the stream.
func (w *Writer) Close() error { return w.z.Close() }

// Reader reads what Writer wrote.
type Reader struct {
	z    *zstd.Decoder
	in   *unpack.Lines
	last int32
}

// NewReader reads from r. Close frees the decoder.
func NewReader(r io.Reader) (*Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &Reader{z: z, in: unpack.WholeLines(z), last: -1}, nil
}

// Next returns the next document, io.EOF after the last. A stream that is not
// what Writer wrote, or ends early, is an error.
func (r *Reader) Next() (Document, error) {
	line, err := r.in.Next()
	if err == io.EOF {
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

// All are the documents that are left, one after another, and at their end the error that ended
// reading, if one did.
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

// Close frees the decoder.
func (r *Reader) Close() { r.z.Close() }

// Merge writes the documents of all streams in order of their numbers, holding
// one document of each in memory. A number in two streams is an error.
func Merge(w *Writer, streams []*Reader) error {
	heads := make([]*Document, len(streams)) // nil: the stream is at its end
	advance := func(i int) error {
		d, err := streams[i].Next()
		if heads[i] = &d; errors.Is(err, io.EOF) {
			heads[i], err = nil, nil
		}
		return err
	}
	for i := range streams {
		if err := advance(i); err != nil {
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
		if err := advance(first); err != nil {
			return err
		}
	}
}

// Concatenate writes the documents of all streams one stream after the other,
// numbered anew from zero.
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

// Zip visits two corpora of one collection side by side. Documents that only one of them
// has are an error.
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
