package tensor

import (
	"sync/atomic"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// emulated says that the CPU is taken for a card.
var emulated atomic.Bool

// Emulate takes the CPU for a card, in the whole process, until end is called: there is one
// CUDA device, whose tensors lie in the CPU's memory. Every operation is composed of
// libtorch's, as on a card, and what would be copied between a card and the CPU is counted.
// It is for tests and for counting (Count): nothing is faster for it.
func Emulate() (end func()) {
	if !emulated.CompareAndSwap(false, true) {
		Failf("Emulate", "a card is emulated already")
	}
	native.Emulate(true)
	return func() {
		native.Emulate(false)
		emulated.Store(false)
	}
}

// onCard reports whether t is on a card, or where one is emulated.
func (t *Tensor) onCard() bool { return emulated.Load() || t.Device().IsCUDA() }

// onCardOf is the card on which t is.
func onCardOf(t *Tensor) Device {
	if emulated.Load() {
		return CUDA(0)
	}
	return t.Device()
}
