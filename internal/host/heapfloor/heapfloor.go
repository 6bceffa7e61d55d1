// Package heapfloor spares short commands garbage collections: none comes with less than 32 MB in use. Go's first comes
// at 4 MB, which the initialization of packages fills, and each next at twice what the last one left. With more in use
// memory is collected as always, and if GOGC is set nothing is changed. The package imports little, so that it is
// initialized before most packages that allocate.
package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

func init() {
	if os.Getenv("GOGC") == "" {
		raise(floor / 9) // 800 percent of the 4 MB with which Go starts
	}
}

// floor is the least memory in use, in bytes, at which a collection comes.
const floor = 32 << 20

// raise has the next collection come when floor is in use, or twice what the last one left. It repeats this after each
// collection, until somebody else sets when they come.
func raise(left int) {
	percent := max(100, floor*100/max(left, 1)-100)
	debug.SetGCPercent(percent)
	runtime.AddCleanup(new(collection), func(int) {
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/heap/live:bytes"}}
		if metrics.Read(now); now[0].Value.Uint64() == uint64(percent) {
			raise(int(now[1].Value.Uint64()))
		}
	}, 0)
}

// collection is garbage from the start. Its field keeps it from being allocated together with other small objects.
type collection struct{ _ *collection }
