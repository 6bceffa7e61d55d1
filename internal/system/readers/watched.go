package readers

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Progress is how many bytes count as progress: readers that resume give up after some breaks with fewer between them.
const Progress = 64 << 10

// LookUp is how long somebody's store has for a complete small answer.
const LookUp = 20 * time.Second

// Within bounds the time for a small answer.
func Within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("no complete answer within %s", most))
}

// Pace is the least that a connection has to bring, so that a server that keeps it open does not hold up the reader.
// Only the time in reads counts, not the time between them.
type Pace struct {
	Idle   time.Duration // the longest time without a byte
	Window time.Duration // of reading,
	Least  int64         // in each of which so many bytes have to come
}

// Usual returns a pace below any line over which somebody would want a file.
func Usual() Pace {
	return Pace{Idle: 30 * time.Second, Window: 30 * time.Second, Least: 30 * 4 << 10}
}

// SlowError says that a connection brought less than its Pace asks for.
type SlowError struct {
	Came int64
	In   time.Duration
}

func (e *SlowError) Error() string {
	return fmt.Sprintf("only %d bytes came in %s", e.Came, e.In.Round(100*time.Millisecond))
}

// Watch returns body, of a request with the context of cancel, under p: if nothing comes, cancel is called and reads fail
// with the cause; if too little comes, reads fail with a *SlowError. Close calls cancel.
func (p Pace) Watch(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser) io.ReadCloser {
	idle := time.AfterFunc(p.Idle, func() { cancel(fmt.Errorf("nothing came for %s", p.Idle)) })
	idle.Stop()
	return &watched{ReadCloser: body, pace: p, ctx: ctx, cancel: cancel, idle: idle}
}

type watched struct {
	io.ReadCloser
	pace   Pace
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   *time.Timer
	came   int64
	took   time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	began := time.Now()
	w.idle.Reset(w.pace.Idle)
	n, err := w.ReadCloser.Read(p)
	w.idle.Stop()
	if cause := context.Cause(w.ctx); err != nil && cause != nil {
		err = cause
	}
	w.came += int64(n)
	w.took += time.Since(began)
	if err != nil || w.took < w.pace.Window {
		return n, err
	}
	if w.came < w.pace.Least {
		return n, &SlowError{w.came, w.took}
	}
	w.came, w.took = 0, 0
	return n, nil
}

func (w *watched) Close() error {
	w.idle.Stop()
	err := w.ReadCloser.Close()
	w.cancel(nil)
	return err
}
