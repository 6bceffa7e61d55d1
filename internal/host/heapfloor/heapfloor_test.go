package heapfloor

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestRaise: a small heap has more room until each collection, a large one as much as always, and another's word counts.
func TestRaise(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	percent := func() uint64 {
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(now)
		return now[0].Value.Uint64()
	}
	raise(floor / 9)
	if p := percent(); p != 800 {
		t.Errorf("the heap grows by %d%% until the first collection", p)
	}
	large := make([]byte, floor)
	for percent() != 100 { // the cleanup has a goroutine of its own
		runtime.GC()
	}
	runtime.KeepAlive(large)
	for percent() < 200 { // it is small again
		runtime.GC()
	}
	debug.SetGCPercent(150)
	for range 10 {
		runtime.GC()
	}
	if p := percent(); p != 150 {
		t.Errorf("the heap grows by %d%% where 150%% were asked for", p)
	}
}
