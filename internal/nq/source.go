package nq

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// source is the decompressed view of an input.
type source struct {
	io.Reader
	close func()
}

// counter counts the stored bytes read; another goroutine may look. It keeps the
// error that the underlying reader gave, which tells a failed read from damaged
// data.
type counter struct {
	r   io.Reader
	n   atomic.Int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// openSource recognises gzip (any number of members) and zstd by their first
// bytes; anything else is plain text.
func openSource(c *counter) (*source, error) {
	br := bufio.NewReaderSize(c, 256<<10)
	head, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		gz, err := gzip.NewReader(br)
		if err != nil {
			return nil, err
		}
		return &source{gz, func() {}}, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		// The zstd program too reads windows of up to 128 MiB by itself.
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return &source{zr, zr.Close}, nil
	}
	return &source{br, func() {}}, nil
}
