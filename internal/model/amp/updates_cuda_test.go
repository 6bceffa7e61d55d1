//go:build cuda

package amp_test

import (
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
)

// TestCard: a card makes the CPU's updates.
func TestCard(t *testing.T) {
	if tensor.CUDADevices() == 0 {
		t.Fatal("no CUDA device")
	}
	compare(t, func() func() { return func() {} })
}
