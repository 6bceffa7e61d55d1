//go:build !notorch

package tensor

import "testing"

// TestCardMemory: without a card nothing is told; with one, no more is there than the most.
func TestCardMemory(t *testing.T) {
	for card := range CUDADevices() + 1 {
		now, most, ok := CardMemory(card)
		switch {
		case ok != (card < CUDADevices()):
			t.Errorf("known: %v, of card %d of %d", ok, card, CUDADevices())
		case !ok && now+most != 0, now > most:
			t.Errorf("%d bytes now, %d at most", now, most)
		}
	}
}
