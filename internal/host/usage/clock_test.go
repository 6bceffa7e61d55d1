package usage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestClock: time in which a process did not tick is none that it ran.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := StartClock()
		time.Sleep(2*time.Minute + 300*time.Millisecond)
		testkit.Is(t, c.Stop(), 2*time.Minute+300*time.Millisecond, "it ran")
		time.Sleep(95 * time.Second) // without ticks
		testkit.Is(t, c.Ran(), 2*time.Minute+300*time.Millisecond+tick, "it was stopped, and ran")
		began := time.Now()
		ctx, stop := WithTimeout(t.Context(), 90*time.Second+time.Millisecond)
		<-ctx.Done()
		if took := time.Since(began); took != 90*time.Second+time.Millisecond || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("it ended after %s: %v", took, context.Cause(ctx))
		}
		stop()
	})
}
