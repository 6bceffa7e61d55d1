package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
)

// stepLog keeps what a step says while it runs, in bounded memory. Several goroutines may write to it.
type stepLog struct {
	mu   sync.Mutex
	head []byte
	tail []byte
	at   int   // the place of the oldest byte in a full tail
	cut  int64 // bytes that were dropped from the tail
}

func (l *stepLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	if room := min(runs.LogHead-len(l.head), len(b)); room > 0 {
		l.head, b = append(l.head, b[:room]...), b[room:]
	}
	if more := len(b) - runs.LogTail; more > 0 {
		l.cut, b = l.cut+int64(more), b[more:]
	}
	if room := min(runs.LogTail-len(l.tail), len(b)); room > 0 {
		l.tail, b = append(l.tail, b[:room]...), b[room:]
	}
	for len(b) > 0 {
		k := copy(l.tail[l.at:], b)
		l.at, l.cut, b = (l.at+k)%runs.LogTail, l.cut+int64(k), b[k:]
	}
	return n, nil
}

// logger returns a logger that writes to another one and, from level info on, to the log.
func (l *stepLog) logger(to *slog.Logger) *slog.Logger {
	return slog.New(slog.NewMultiHandler(to.Handler(), slog.NewTextHandler(l, nil)))
}

// read returns what is kept, with a line in place of what was cut.
func (l *stepLog) read() io.Reader {
	parts := []io.Reader{bytes.NewReader(l.head)}
	if l.cut > 0 {
		parts = append(parts, bytes.NewReader(runs.CutLine(l.cut)))
	}
	return io.MultiReader(append(parts, bytes.NewReader(l.tail[l.at:]), bytes.NewReader(l.tail[:l.at]))...)
}

// keep stores the log. It only logs an error, as a result counts without its log.
func (l *stepLog) keep(ctx context.Context, a *Activities, address string) *artifacts.Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.head) == 0 {
		return &artifacts.Log{}
	}
	kept := &artifacts.Log{Cut: l.cut}
	err := insist(ctx, outageTime, func() (err error) {
		kept.Digest, kept.Size, err = a.Store.Own.Blobs.Put(ctx, l.read())
		return err
	})
	if err != nil {
		a.Log.Warn("could not store the step's log", "step", address, "err", err)
		return nil
	}
	return kept
}

// LiveTail is how many bytes of its log a running step shows.
const LiveTail = 64 << 10

// liveEvery is how often it does, if the log has grown. A step that ends sooner shows nothing.
const liveEvery = 2 * time.Second

// showLive shows the end of a step's log at each tick, until stop.
func (a *Activities) showLive(ctx context.Context, key artifacts.Digest, log *stepLog, ticks <-chan time.Time) (stop func()) {
	var shown int64
	live, quit := context.WithCancel(ctx) // no slow store holds up the end of a step
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-live.Done():
				return
			case <-ticks:
			}
			said, text := log.end(LiveTail)
			if said == shown {
				continue
			}
			shown = said
			b, _ := json.Marshal(runs.LiveLog{Said: said, Text: text})
			if err := a.Store.Own.Leases.Put(live, runs.LiveName(key), b); err != nil {
				a.Log.Debug("a running step's log is not shown", "key", key.Hex(), "err", err)
			}
		}
	})
	return func() {
		quit()
		if done.Wait(); shown == 0 {
			return
		}
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), failureTime)
		defer stop()
		if err := a.Store.Own.Leases.Delete(ctx, runs.LiveName(key)); err != nil {
			a.Log.Debug("what a running step said is left behind", "key", key.Hex(), "err", err)
		}
	}
}

// end returns how many bytes the step has said, and at most the last n of them that are kept.
func (l *stepLog) end(n int) (said int64, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, _ = io.ReadAll(l.read()) // of memory
	return int64(len(l.head)+len(l.tail)) + l.cut, text[max(0, len(text)-n):]
}
