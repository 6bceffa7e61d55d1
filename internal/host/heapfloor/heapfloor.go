// Package heapfloor spares short commands garbage collections: there is none below 16 MB in
// use, where Go's first comes at 4, which the packages' initialization alone fills. What
// has more is collected as always, and where GOGC is set nothing is changed. It imports
// little, so that it is initialized before most of what allocates.
package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const floor = 16 << 20

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // of the 4 MB that Go starts with
		runtime.SetFinalizer(new(collection), collected)
	}
}

// collection is garbage from the start, so that every collection finalizes it. Its field
// keeps it from being allocated together with other small objects.
type collection struct{ _ *collection }

// collected puts the next collection where twice of what lives is in use, or the floor.
func collected(c *collection) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(max(100, int(100*floor/max(live[0].Value.Uint64(), floor/5))-100))
	runtime.SetFinalizer(c, collected)
}
