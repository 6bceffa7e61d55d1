package nq

import "io"

const (
	magicRecords = "redsi.records@1"
	magicHeaders = "redsi.headers@1"
)

// entryCodec encodes a stream's entries; decode reuses the buffers of what it fills and returns the entry's length.
type entryCodec[T any] interface {
	append(b []byte, v *T) ([]byte, error)
	decode(b []byte, v *T) (int, error)
}

// The streams records@1 and headers@1.
type (
	RecordWriter = EntryWriter[Record]
	RecordReader = EntryReader[Record]
	HeaderWriter = EntryWriter[Header]
	HeaderReader = EntryReader[Header]
)

// NewRecordWriter starts a stream on w, which stays open after Close.
func NewRecordWriter(w io.Writer) (*RecordWriter, error) {
	return newWriter[Record](w, magicRecords, &recordCodec{})
}

// NewHeaderWriter starts a stream on w, which stays open after Close.
func NewHeaderWriter(w io.Writer) (*HeaderWriter, error) {
	return newWriter[Header](w, magicHeaders, headerCodec{})
}

func NewRecordReader(r io.Reader) *RecordReader {
	return &RecordReader{br: newBlockReader(r, magicRecords), codec: &recordCodec{}}
}

func NewHeaderReader(r io.Reader) *HeaderReader {
	return &HeaderReader{br: newBlockReader(r, magicHeaders), codec: headerCodec{}}
}

// EntryWriter writes a compact stream. It is for one goroutine; compression runs beside it.
type EntryWriter[T any] struct {
	bw    *blockWriter
	codec entryCodec[T]
}

func newWriter[T any](w io.Writer, magic string, codec entryCodec[T]) (*EntryWriter[T], error) {
	bw, err := newBlockWriter(w, magic)
	if err != nil {
		return nil, err
	}
	return &EntryWriter[T]{bw, codec}, nil
}

// Write appends v. An error about v itself leaves the stream as it was.
func (w *EntryWriter[T]) Write(v *T) error {
	return w.bw.add(func(b []byte) ([]byte, error) { return w.codec.append(b, v) })
}

// Close completes the stream and ends its goroutines, also after an error; without it a reader reports ErrTruncated.
func (w *EntryWriter[T]) Close() error { return w.bw.close() }

// EntryReader reads a compact stream in order.
type EntryReader[T any] struct {
	br    *blockReader
	codec entryCodec[T]
}

// Next decodes the next entry into v, reusing HTML and Tokens; io.EOF after the last. A stream that ends early gives an
// error that wraps ErrTruncated.
func (rd *EntryReader[T]) Next(v *T) error {
	br := rd.br
	for br.err == nil && br.left == 0 {
		br.err = br.nextBlock()
	}
	if br.err != nil {
		return br.err
	}
	n, err := rd.codec.decode(br.block, v)
	if err != nil {
		br.err = err
		return err
	}
	br.block, br.left = br.block[n:], br.left-1
	return nil
}

// Close releases the reader's goroutines.
func (rd *EntryReader[T]) Close() { rd.br.close() }
