package tensor

// #include "native/native.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
	"github.com/redsi/redsi/internal/model/tensor/cudalib"
)

// Card says whether this process computes on a card if it is asked to, and why not. The first call loads libtorch's
// CUDA half: before the first operation, since libtorch then looks once for what devices there are.
var Card = sync.OnceValue(func() cudalib.State { return withGraphs(cudalib.Load(Version())) })

// withGraphs opens the library by which a card's work is recorded. Without it the card is asked for one
// operation at a time.
func withGraphs(s cudalib.State) cudalib.State {
	if s.Graphs == "" {
		return s
	}
	if err := cudagraph.Open(s.Graphs); err != nil {
		s.Graphs, s.GraphsReason = "", fmt.Sprintf("the library that records a card's work does not load: %v", err)
	}
	return s
}

// CardMemory is how many bytes of tensors are on the n-th card, and the most that there
// were so far. Without that card ok is false.
func CardMemory(n int) (now, most int64, ok bool) {
	if n >= CUDADevices() {
		return 0, 0, false
	}
	return two(func(a, b *C.int64_t) *C.char { return C.redsi_card_memory(C.int(n), a, b) })
}

// CardFree is how many bytes of a card can still be taken, with what libtorch has of it and
// does not use, and how many the card has. Of the CPU ok is false.
func CardFree(dev Device) (free, total int64, ok bool) {
	if !dev.IsCUDA() {
		return 0, 0, false
	}
	return two(func(a, b *C.int64_t) *C.char { return C.redsi_card_free(C.int(dev.c()), a, b) })
}

// two are the numbers that f sets, and whether it does.
func two(f func(a, b *C.int64_t) *C.char) (x, y int64, ok bool) {
	var a, b C.int64_t
	if msg := f(&a, &b); msg != nil {
		text(unsafe.Pointer(msg))
		return 0, 0, false
	}
	return int64(a), int64(b), true
}

// CUDADevices is the number of cards that libtorch sees.
func CUDADevices() int {
	if Card(); !lib.AtcCudaIsAvailable() { // a card of software (fakecard) is one too
		return 0
	}
	return int(lib.AtcCudaDeviceCount())
}
