// Package readers has what is put around an io.Reader in more than one place.
package readers

import (
	"context"
	"io"
)

// WithContext returns r with ctx checked before each read, so that a copy of any length
// stops soon after ctx is over, with its cause.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return &withContext{ctx, r} }

type withContext struct {
	ctx context.Context
	r   io.Reader
}

func (r *withContext) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Closing returns r with the Close of what it reads from.
func Closing(r io.Reader, c io.Closer) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{r, c}
}

// Failing keeps the error of a reader, so that it can be told from the writer's.
type Failing struct {
	R   io.Reader
	Err error
}

func (f *Failing) Read(p []byte) (int, error) {
	n, err := f.R.Read(p)
	if err != nil && err != io.EOF {
		f.Err = err
	}
	return n, err
}

// Pieces returns r, telling read, unless it is nil, of the bytes that each read brought.
func Pieces(r io.Reader, read func(n int64)) io.Reader {
	if read == nil {
		return r
	}
	var last int64
	return Counted(r, func(n int64) {
		read(n - last)
		last = n
	})
}

// Counted returns r, telling seen after each read how many bytes have come so far.
func Counted(r io.Reader, seen func(n int64)) io.Reader { return &counted{r: r, seen: seen} }

type counted struct {
	r    io.Reader
	n    int64
	seen func(n int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.seen(c.n)
	return n, err
}
