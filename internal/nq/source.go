package nq

import (
	"io"
	"sync/atomic"
)

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
