//go:build !notorch

package tensor

import "testing"

// TestCardMemory: without a card nothing is told; with one, no more is there than the most.
func TestCardMemory(t *testing.T) {
	now, most, ok := CardMemory()
	switch {
	case ok != (CUDADevices() > 0):
		t.Errorf("known: %v, with %d cards", ok, CUDADevices())
	case !ok && now+most != 0, CUDADevices() == 1 && now > most:
		t.Errorf("%d bytes now, %d at most", now, most)
	}
}
