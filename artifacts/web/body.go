package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/readers"
)

// resumes is how many breaks in a row, without readers.Progress between them, a read survives.
const resumes = 5

// body reads a file from start to end. Where the connection breaks it asks for the rest of
// the same file, if the host says how to tell it from another; else it starts over and
// goes over what was read.
type body struct {
	limits
	ctx     context.Context
	address string
	tag     string // a strong ETag or a date, for If-Range
	rc      io.ReadCloser
	off     int64
	size    int64 // -1: the host does not say
	left    int
	counted int64 // off when left was last whole
	done    func()
}

func (l limits) openBody(ctx context.Context, address string) (*body, error) {
	res, err := l.send(ctx, http.MethodGet, address, 0, "")
	if err != nil {
		return nil, err
	}
	return &body{limits: l, ctx: ctx, address: address, tag: validator(res), rc: res.Body, size: res.ContentLength, left: resumes, done: func() {}}, nil
}

// validator is what If-Range takes.
func validator(res *http.Response) string {
	if tag := res.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return res.Header.Get("Last-Modified")
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.rc.Read(p)
	b.off += int64(n)
	if b.off-b.counted >= readers.Progress {
		b.left, b.counted = resumes, b.off
	}
	var slow *readers.SlowError
	switch {
	case err == nil:
		return n, nil
	case b.size >= 0 && b.off >= b.size, b.size < 0 && errors.Is(err, io.EOF):
		return n, io.EOF
	case context.Cause(b.ctx) != nil:
		return n, context.Cause(b.ctx)
	case errors.As(err, &slow):
		return n, fmt.Errorf("after %d bytes: %w", b.off, err)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	for ; b.left > 0; b.left-- {
		if werr := readers.Pause(b.ctx, b.pause<<(resumes-b.left)/4); werr != nil {
			return n, werr
		}
		if rerr := b.resume(); rerr == nil {
			b.left--
			return n, nil
		} else if !again(b.ctx, rerr) {
			return n, fmt.Errorf("after %d bytes: %w", b.off, rerr)
		}
	}
	return n, fmt.Errorf("the connection broke after %d of %d bytes: %w", b.off, b.size, err)
}

// resume asks for the rest.
func (b *body) resume() error {
	b.rc.Close()
	b.rc = io.NopCloser(strings.NewReader(""))
	res, err := b.sendOnce(b.ctx, http.MethodGet, b.address, b.off, b.tag)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusPartialContent {
		if err := isRest(res, b.off, b.size); err != nil {
			res.Body.Close()
			return final(err)
		}
	} else if n, err := io.CopyN(io.Discard, res.Body, b.off); err != nil {
		res.Body.Close()
		return fmt.Errorf("after %d bytes, once more: %w", n, err)
	}
	b.rc = res.Body
	return nil
}

// isRest verifies that an answer is the rest that was asked for.
func isRest(res *http.Response, from, size int64) error {
	got := res.Header.Get("Content-Range") // bytes 100-199/200
	span, total, _ := strings.Cut(strings.TrimPrefix(got, "bytes "), "/")
	first, _, _ := strings.Cut(span, "-")
	if first != strconv.FormatInt(from, 10) || size >= 0 && total != "*" && total != strconv.FormatInt(size, 10) {
		return fmt.Errorf("asked for the bytes from %d of %d, got %q", from, size, got)
	}
	return nil
}

func (b *body) Close() error {
	defer b.done()
	return b.rc.Close()
}
