//go:build linux

package fakecard

// #cgo CXXFLAGS: -std=c++17
// #cgo LDFLAGS: -ltorch_cpu -lc10 -lstdc++
// #include <stdlib.h>
// #include "card.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"
)

var install = sync.OnceValue(func() error {
	if err := os.Setenv("REDSI_CUDA", "off"); err != nil { // no real one beside it
		return err
	}
	if msg := take(C.redsi_fakecard_install()); msg != "" {
		return errors.New("fakecard: " + msg)
	}
	return nil
})

// Install makes the card. A test calls it before anything else asks libtorch for its cards, in TestMain
// at best; later calls do nothing.
func Install() error { return install() }

// Counts are what happened on the card.
type Counts struct {
	Operators                map[string]int64 // that read or wrote elements, by name; `_foreach_*` are taken apart
	Launches                 int64            // the sum of Operators
	Uploads, UploadBytes     int64
	Downloads, DownloadBytes int64
	Syncs                    int64 // of the host for the card: downloads, values read, synchronizations
}

// Count calls f and says what it had the card do, from whichever thread.
func Count(f func()) Counts {
	counted()
	f()
	return counted()
}

func counted() Counts {
	var c C.redsi_fakecard_counts
	text := take(C.redsi_fakecard_take(&c))
	counts := Counts{Operators: map[string]int64{}, Uploads: int64(c.uploads), UploadBytes: int64(c.upload_bytes),
		Downloads: int64(c.downloads), DownloadBytes: int64(c.download_bytes), Syncs: int64(c.waits)}
	for line := range strings.Lines(text) {
		var name string
		var n int64
		if _, err := fmt.Sscan(line, &name, &n); err != nil {
			panic(fmt.Sprintf("fakecard: line %q: %v", line, err))
		}
		counts.Operators[name] = n
		counts.Launches += n
	}
	return counts
}

func take(text *C.char) string {
	defer C.free(unsafe.Pointer(text))
	return C.GoString(text)
}
