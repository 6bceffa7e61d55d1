package heapfloor

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestCollected(t *testing.T) {
	percent := func() int {
		runtime.GC()
		collected(new(collection))
		return debug.SetGCPercent(100)
	}
	if p := percent(); p != 400 {
		t.Errorf("a small heap grows by %d%%, not to the floor", p)
	}
	big := make([]byte, 4*floor)
	if p := percent(); p != 100 {
		t.Errorf("a big heap grows by %d%%", p)
	}
	runtime.KeepAlive(big)
}
