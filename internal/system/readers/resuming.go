package readers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Pause returns after d, or with ctx's cause when ctx is over.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unreachable reports whether an error of an HTTP request says that there was no way to the server, as without a
// network. A server that refuses the connection, or ends it, was reached.
func Unreachable(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return ok && (dial.Op == "dial" || dial.Op == "proxyconnect") && !errors.Is(err, syscall.ECONNREFUSED)
}

// Resuming reads a body from start to end. It asks for the rest when the connection breaks, as is ordinary for many GB.
type Resuming struct {
	Ctx  context.Context
	Body io.ReadCloser
	Size int64 // of the complete body; -1: not known
	Done func()

	// Rest asks for what comes after from bytes. transient says that the error may be gone at the next try.
	Rest func(from int64) (rest io.ReadCloser, transient bool, err error)

	Breaks int                       // in a row, without Progress between them, which a read survives
	Wait   func(n int) time.Duration // the pause before the rest is asked for after the nth of them, from 0

	off, counted int64 // counted: off when breaks was last 0
	breaks       int
}

func (r *Resuming) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	r.off += int64(n)
	if r.off-r.counted >= Progress {
		r.breaks, r.counted = 0, r.off
	}
	switch {
	case err == nil:
		return n, nil
	case r.Size >= 0 && r.off >= r.Size, r.Size < 0 && errors.Is(err, io.EOF): // however the connection ended
		return n, io.EOF
	case context.Cause(r.Ctx) != nil:
		return n, context.Cause(r.Ctx)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	_, slow := errors.AsType[*SlowError](err)
	for transient := !slow; transient && r.breaks < r.Breaks; {
		if err := Pause(r.Ctx, r.Wait(r.breaks)); err != nil {
			return n, err
		}
		r.breaks++
		r.Body.Close()
		r.Body = io.NopCloser(strings.NewReader(""))
		var rest io.ReadCloser
		if rest, transient, err = r.Rest(r.off); err == nil {
			r.Body = rest
			return n, nil
		}
	}
	return n, fmt.Errorf("the connection broke after %d bytes: %w", r.off, err)
}

// Close ends the reading, and calls Done.
func (r *Resuming) Close() error {
	defer r.Done()
	return r.Body.Close()
}

// Validator returns what to send by If-Range, so that the rest of an answer is not of another file: a strong ETag, else
// the date; "" if the host gives neither.
func Validator(res *http.Response) string {
	if tag := res.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return res.Header.Get("Last-Modified")
}

// CheckRest verifies that an answer is what comes after from bytes of a file with size bytes; -1: not known.
func CheckRest(res *http.Response, from, size int64) error {
	got := res.Header.Get("Content-Range") // bytes 100-199/200
	span, total, _ := strings.Cut(strings.TrimPrefix(got, "bytes "), "/")
	first, _, _ := strings.Cut(span, "-")
	if first != strconv.FormatInt(from, 10) || size >= 0 && total != "*" && total != strconv.FormatInt(size, 10) {
		return fmt.Errorf("asked for the bytes from %d of %d, got %q", from, size, got)
	}
	return nil
}
