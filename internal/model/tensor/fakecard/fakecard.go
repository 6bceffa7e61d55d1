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
	"testing"
	"unsafe"
)

// Install makes the card. A test calls it before anything else asks libtorch for its cards, in TestMain
// at best; later calls do nothing.
var Install = sync.OnceValue(func() error {
	if err := os.Setenv("REDSI_CUDA", "off"); err != nil { // no real one beside it
		return err
	}
	if msg := take(C.redsi_fakecard_install()); msg != "" {
		return errors.New("fakecard: " + msg)
	}
	return nil
})

// Main is the TestMain of a package whose tests compute on the card.
func Main(m *testing.M) {
	if err := Install(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Counts are what happened on the card.
type Counts struct {
	Operators     map[string]int64 `json:"operators"` // kernels by libtorch's name of the operator, without "aten::"
	Launches      int64            `json:"launches"`  // the sum of Operators
	Uploads       int64            `json:"uploads"`   // copies to the card
	UploadBytes   int64            `json:"upload_bytes"`
	Downloads     int64            `json:"downloads"` // copies from the card, each of which waits for it
	DownloadBytes int64            `json:"download_bytes"`
	Syncs         int64            `json:"syncs"` // other waits of the host for the card: values read, synchronizations
	Peak          int64            `json:"-"`     // bytes that tensors had at the most, beyond what they had before
}

// Count calls f and says what it had the card do, from whichever thread. An operator is as many kernels as CUDA
// launches for it: views and allocations are none, one for many tensors (_foreach_mul_) is as many as CUDA makes of it.
func Count(f func()) Counts {
	counted()
	f()
	return counted()
}

func counted() Counts {
	var c C.redsi_fakecard_counts
	text := take(C.redsi_fakecard_take(&c))
	counts := Counts{Operators: map[string]int64{}, Uploads: int64(c.uploads), UploadBytes: int64(c.upload_bytes),
		Downloads: int64(c.downloads), DownloadBytes: int64(c.download_bytes), Syncs: int64(c.waits), Peak: int64(c.peak)}
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
