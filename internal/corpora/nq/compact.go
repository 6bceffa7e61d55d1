package nq

import "io"

const (
	magicRecords = "redsi.records@1"
	magicHeaders = "redsi.headers@1"
)

// RecordWriter writes a records@1 stream. It is for one goroutine; compression
// runs beside it.
type RecordWriter struct {
	bw    *blockWriter
	codec recordCodec
}

// NewRecordWriter starts a stream on w, which stays open after Close.
func NewRecordWriter(w io.Writer) (*RecordWriter, error) {
	bw, err := newBlockWriter(w, magicRecords)
	if err != nil {
		return nil, err
	}
	return &RecordWriter{bw: bw}, nil
}

// Write appends r. An error about r itself leaves the stream as it was.
func (w *RecordWriter) Write(r *Record) error {
	return w.bw.add(func(b []byte) ([]byte, error) { return w.codec.append(b, r) })
}

// Close completes the stream and ends its goroutines, also after an error;
// without it a reader reports ErrTruncated.
func (w *RecordWriter) Close() error { return w.bw.close() }

// RecordReader reads a records@1 stream in order.
type RecordReader struct {
	br    *blockReader
	codec recordCodec
	skip  int64
	left  int64 // records to deliver; -1: all
}

// NewRecordReader reads from r.
func NewRecordReader(r io.Reader) *RecordReader {
	return &RecordReader{br: newBlockReader(r, magicRecords), left: -1}
}

// Next decodes the next record into r and reuses r's HTML and Tokens; io.EOF
// after the last. A stream that ends early gives an error that wraps ErrTruncated.
func (rd *RecordReader) Next(r *Record) error {
	for {
		if rd.left == 0 {
			return io.EOF
		}
		b, err := rd.br.entry()
		if err != nil {
			return err
		}
		n, err := rd.codec.decode(b, r)
		if err != nil {
			return rd.br.fail(err)
		}
		rd.br.took(n)
		if rd.skip > 0 {
			rd.skip--
			continue
		}
		if rd.left > 0 {
			rd.left--
		}
		return nil
	}
}

// Close releases the reader's goroutines.
func (rd *RecordReader) Close() { rd.br.close() }

// HeaderWriter writes a headers@1 stream.
type HeaderWriter struct{ bw *blockWriter }

// NewHeaderWriter starts a stream on w, which stays open after Close.
func NewHeaderWriter(w io.Writer) (*HeaderWriter, error) {
	bw, err := newBlockWriter(w, magicHeaders)
	if err != nil {
		return nil, err
	}
	return &HeaderWriter{bw}, nil
}

// Write appends h.
func (w *HeaderWriter) Write(h *Header) error {
	return w.bw.add(func(b []byte) ([]byte, error) { return appendHeader(b, h), nil })
}

// Close completes the stream.
func (w *HeaderWriter) Close() error { return w.bw.close() }

// HeaderReader reads a headers@1 stream in order.
type HeaderReader struct{ br *blockReader }

// NewHeaderReader reads from r.
func NewHeaderReader(r io.Reader) *HeaderReader {
	return &HeaderReader{newBlockReader(r, magicHeaders)}
}

// Next decodes the next header into h; io.EOF after the last.
func (rd *HeaderReader) Next(h *Header) error {
	b, err := rd.br.entry()
	if err != nil {
		return err
	}
	n, err := decodeHeader(b, h)
	if err != nil {
		return rd.br.fail(err)
	}
	rd.br.took(n)
	return nil
}

// Close releases the reader's goroutines.
func (rd *HeaderReader) Close() { rd.br.close() }
