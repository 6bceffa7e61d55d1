package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestRaise: there is more room until the first collection, and as much as always after it.
func TestRaise(t *testing.T) {
	if os.Getenv("GOGC") == "" {
		runtime.GC()
	}
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	percent := func() uint64 {
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(now)
		return now[0].Value.Uint64()
	}
	raise()
	if p := percent(); p != 800 {
		t.Errorf("the heap grows by %d%% until the first collection", p)
	}
	for percent() != 100 { // the cleanup has a goroutine of its own
		runtime.GC()
	}
}
