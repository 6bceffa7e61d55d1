package activities

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
)

// LiveTail is how much of its log a running step shows.
const LiveTail = 64 << 10

// liveEvery is how often it does, if there is more. A step that ends sooner shows nothing.
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
			if err := a.Store.Leases.Put(live, runs.LiveName(key), b); err != nil {
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
		if err := a.Store.Leases.Delete(ctx, runs.LiveName(key)); err != nil {
			a.Log.Debug("what a running step said is left behind", "key", key.Hex(), "err", err)
		}
	}
}

// end is how many bytes the step has said, and at most the last n of them, of those that are kept.
func (l *stepLog) end(n int) (said int64, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, _ = io.ReadAll(l.read()) // of memory
	return int64(len(l.head)+len(l.tail)) + l.cut, text[max(0, len(text)-n):]
}
