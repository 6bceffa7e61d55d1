package wikipedia

import (
	"io"
	"sync/atomic"

	"github.com/redsi/redsi/internal/unpack"
)

// source is the decompressed view of an input, and counts what it takes from it.
type source struct {
	*unpack.Reader
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

func openSource(r io.Reader) (*source, error) {
	c := &counter{r: r}
	u, err := unpack.Open(c)
	if err != nil {
		return nil, err
	}
	return &source{u, c}, nil
}
