package process

import (
	"testing"
	"time"
)

// TestSince: numbers start again at 300, and after a while may be any.
func TestSince(t *testing.T) {
	const most = 32768
	for _, c := range []struct {
		first  int
		passed time.Duration
		pid    int
		want   bool
	}{
		{1000, time.Millisecond, 999, false}, {1000, time.Millisecond, 1000, true}, {1000, time.Millisecond, 5596, true}, {1000, time.Millisecond, 5597, false},
		{32000, time.Millisecond, 31999, false}, {32000, time.Millisecond, 32767, true}, {32000, time.Millisecond, 1, true}, {32000, time.Millisecond, 4128, true}, {32000, time.Millisecond, 4129, false},
		{32000, time.Second, 20000, true}, {32000, -1, 20000, true}, {40000, time.Millisecond, 20000, true}, {1000, 60 * time.Millisecond, 999, true},
	} {
		if got := since(c.first, c.passed, most)(c.pid); got != c.want {
			t.Errorf("%d, %s after %d: %t", c.pid, c.passed, c.first, got)
		}
	}
}
