package wikipedia

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// source is the decompressed view of an input, and counts what it takes from it.
type source struct {
	io.Reader
	close func()
	taken *counter
}

// counter counts the stored bytes read; another goroutine may look.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// openSource recognises gzip and bzip2, with any number of members or streams, and
// zstd by their first bytes; anything else is plain text.
func openSource(r io.Reader) (*source, error) {
	c := &counter{r: r}
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
		return &source{gz, func() {}, c}, nil
	case bytes.HasPrefix(head, []byte("BZh")):
		m := newMultiBzip2(br)
		return &source{m, m.close, c}, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return &source{zr, zr.Close, c}, nil
	}
	return &source{br, func() {}, c}, nil
}
