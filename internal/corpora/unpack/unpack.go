package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// headBytes is how much is looked at on either side of decompression: enough for tar's mark at byte 257.
const headBytes = 512

// Reader is the decompressed view of an input.
type Reader struct {
	r    *bufio.Reader
	err  error // behind what r has buffered
	stop func()
}

// Open recognises gzip (any number of members, and padding), bzip2 (any number of streams) and zstd by their first bytes;
// other input is plain text. Input that is no text gives a *ForeignError. Errors of reading behind the first bytes come from
// Read.
func Open(r io.Reader) (*Reader, error) {
	br := bufio.NewReaderSize(r, 256<<10)
	head, err := br.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, err
	}
	if err := foreign(head); err != nil {
		return nil, err
	}
	var text io.Reader
	stop := func() {}
	switch {
	case bytes.HasPrefix(head, gzipMark):
		gz, err := gzip.NewReader(br)
		if err != nil {
			return nil, err
		}
		gz.Multistream(false)
		text = members{gz, br}
	case isBzip2(head):
		text = bzip2.NewReader(br)
	case isZstd(head):
		// The zstd program too reads windows of up to 128 MiB without an option.
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		text, stop = zr, zr.Close
	default:
		return &Reader{r: br, stop: stop}, nil
	}
	u := &Reader{r: bufio.NewReaderSize(text, headBytes), stop: stop}
	head, u.err = u.r.Peek(headBytes)
	if err := inner(head); err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

// members reads the members of a gzip file. As for gzip(1), zeros behind a member are padding.
type members struct {
	gz *gzip.Reader
	in *bufio.Reader
}

func (m members) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if n, err = m.gz.Read(p); err != io.EOF {
			return n, err
		}
		next := byte(0)
		for err = nil; next == 0 && err == nil; {
			next, err = m.in.ReadByte()
		}
		if err == nil {
			err = errors.Join(m.in.UnreadByte(), m.gz.Reset(m.in))
			m.gz.Multistream(false)
		}
	}
	return n, err
}

func (u *Reader) Read(p []byte) (int, error) {
	if u.err != nil && u.r.Buffered() == 0 {
		return 0, u.err
	}
	return u.r.Read(p)
}

// Close frees the decompressor; it does not close what Open was given.
func (u *Reader) Close() { u.stop() }

// Counter counts the stored bytes that Open's Reader has read, for another goroutine to show. Err distinguishes a
// failed read from damaged data.
type Counter struct {
	Err error // of the underlying reader, if it gave one; for the goroutine that reads
	r   io.Reader
	n   atomic.Int64
}

func NewCounter(r io.Reader) *Counter { return &Counter{r: r} }

func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if err != nil && err != io.EOF {
		c.Err = err
	}
	return n, err
}

func (c *Counter) Taken() int64 { return c.n.Load() }
