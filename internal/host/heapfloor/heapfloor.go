// Package heapfloor spares short commands garbage collections: the first comes with 32 MB in
// use, where Go's comes at 4, which the packages' initialization alone fills. From then on
// memory is collected as always, and where GOGC is set nothing is changed. It imports little,
// so that it is initialized before most of what allocates.
package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		raise()
	}
}

// raise is of Go's 100 percent, which are again in force from the next collection on.
func raise() {
	debug.SetGCPercent(800) // of the 4 MB that Go starts with
	runtime.AddCleanup(new(collection), func(percent int) { debug.SetGCPercent(percent) }, 100)
}

// collection is garbage from the start. Its field keeps it from being allocated together with
// other small objects.
type collection struct{ _ *collection }
