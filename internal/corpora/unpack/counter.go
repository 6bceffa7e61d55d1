package unpack

import (
	"io"
	"sync/atomic"
)

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
