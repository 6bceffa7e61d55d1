// Package readers has wrappers of io.Reader that several packages use.
package readers

import (
	"context"
	"io"
)

// WithContext returns r with ctx checked before each read, so that a copy of any length stops soon after ctx is over,
// with its cause.
func WithContext(ctx context.Context, r io.Reader) io.Reader {
	return reader(func(p []byte) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

// reader is an io.Reader as its method.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// Closing returns r with the Close of what it reads from.
func Closing(r io.Reader, c io.Closer) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{r, c}
}

// Failing keeps the error of a reader, so that it can be told from an error of the writer.
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

// Pieces returns r with read, unless it is nil, called after each read with the number of bytes that came.
func Pieces(r io.Reader, read func(n int64)) io.Reader {
	if read == nil {
		return r
	}
	return reader(func(p []byte) (int, error) {
		n, err := r.Read(p)
		read(int64(n))
		return n, err
	})
}

// Counted returns r with seen called after each read with the number of bytes that have come so far.
func Counted(r io.Reader, seen func(n int64)) io.Reader {
	var all int64
	return Pieces(r, func(n int64) {
		all += n
		seen(all)
	})
}
