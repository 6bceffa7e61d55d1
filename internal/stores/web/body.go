package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/redsi/redsi/internal/system/readers"
)

// resumes is how many breaks in a row, without readers.Progress between them, a read survives.
const resumes = 5

// openBody reads a file from start to end. Where the connection breaks it asks for the rest of
// the same file, if the host says how to tell it from another; else it starts over and
// goes over what was read.
func (l limits) openBody(ctx context.Context, address string) (*readers.Resuming, error) {
	res, err := l.send(ctx, http.MethodGet, address, 0, "")
	if err != nil {
		return nil, err
	}
	tag, size := readers.Validator(res), res.ContentLength
	rest := func(from int64) (io.ReadCloser, bool, error) {
		res, err := l.sendOnce(ctx, http.MethodGet, address, from, tag)
		if err != nil {
			return nil, isTransient(ctx, err), err
		}
		if res.StatusCode == http.StatusPartialContent {
			if err := readers.CheckRest(res, from, size); err != nil {
				res.Body.Close()
				return nil, false, err
			}
		} else if n, err := io.CopyN(io.Discard, res.Body, from); err != nil {
			res.Body.Close()
			return nil, isTransient(ctx, err), fmt.Errorf("once more, after %d: %w", n, err)
		}
		return res.Body, false, nil
	}
	return &readers.Resuming{Ctx: ctx, Body: res.Body, Size: size, Done: func() {}, Rest: rest, Breaks: resumes,
		Wait: func(n int) time.Duration { return l.pause << n / 4 }}, nil
}
