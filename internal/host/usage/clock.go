package usage

import (
	"context"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/system/readers"
)

// A clock ticks; a pause of more than long says that its process was stopped.
const (
	tick = time.Second
	long = 5 * time.Second // longer than a tick on a busy machine
)

// Clock measures the time in which its process runs, without stops by a signal or a batch system that suspends jobs.
type Clock struct {
	quit context.CancelFunc

	mu   sync.Mutex
	last time.Time
	ran  time.Duration
}

// StartClock returns a clock that ticks until Stop.
func StartClock() *Clock {
	c := &Clock{last: time.Now()}
	ctx, quit := context.WithCancel(context.Background())
	c.quit = quit
	go func() {
		for readers.Pause(ctx, tick) == nil {
			c.Ran()
		}
	}()
	return c
}

// Ran returns the time so far.
func (c *Clock) Ran() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	since := now.Sub(c.last)
	if since > long {
		since = tick
	}
	c.last, c.ran = now, c.ran+since
	return c.ran
}

// Stop ends the clock and returns its time.
func (c *Clock) Stop() time.Duration {
	c.quit()
	return c.Ran()
}

// WithTimeout is context.WithTimeout by a Clock.
func WithTimeout(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	c := StartClock()
	go func() {
		defer c.Stop()
		for left := most; left > 0; left = most - c.Ran() {
			if readers.Pause(ctx, min(left, tick)) != nil {
				return
			}
		}
		end(context.DeadlineExceeded)
	}()
	return ctx, func() { end(nil) }
}
