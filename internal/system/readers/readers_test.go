package readers

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestWithContext(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := WithContext(ctx, iotest.OneByteReader(strings.NewReader("abc")))
	testkit.None(t, testkit.Err(r.Read(make([]byte, 1))))
	cancel(enough)
	if b, err := io.ReadAll(r); len(b) != 0 || err != enough {
		t.Errorf("%q, %v", b, err)
	}
}

func TestCounted(t *testing.T) {
	var seen []int64
	b, err := io.ReadAll(Counted(iotest.OneByteReader(strings.NewReader("abc")), func(n int64) { seen = append(seen, n) }))
	testkit.That(t, string(b) == "abc" && err == nil && slices.Equal(seen, []int64{1, 2, 3, 3}), b, err, "told", seen)
}

// TestWatch: a line that brings nothing is ended by its request's context, one that brings
// too little by an error; one that brings enough is read.
func TestWatch(t *testing.T) {
	watch := func(p Pace, body func(ctx context.Context) io.Reader) ([]byte, error) {
		ctx, cancel := context.WithCancelCause(t.Context())
		rc := p.Watch(ctx, cancel, io.NopCloser(body(ctx)))
		defer rc.Close()
		return io.ReadAll(rc)
	}
	text := func(context.Context) io.Reader { return iotest.OneByteReader(strings.NewReader("abc")) }
	silent := func(ctx context.Context) io.Reader {
		r, w := io.Pipe()
		context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
		return r
	}
	if _, err := watch(Pace{Idle: time.Millisecond, Window: time.Hour}, silent); err == nil || err.Error() != "nothing came for 1ms" {
		t.Errorf("silent: %v", err)
	}
	var slow *SlowError
	if b, err := watch(Pace{Idle: time.Hour, Window: 0, Least: 2}, text); !errors.As(err, &slow) || slow.Came != 1 || string(b) != "a" {
		t.Errorf("slow: %q, %v", b, err)
	}
	if b, err := watch(Pace{Idle: time.Hour, Window: 0, Least: 1}, text); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
}
