//go:build !notorch

package device

import (
	"github.com/redsi/redsi/internal/nvidia"
	"github.com/redsi/redsi/internal/tensor"
)

// Card is what this process has of CUDA.
func Card() CUDA {
	c := CUDA{Cards: tensor.CUDADevices()}
	if c.Cards > 0 {
		return c
	}
	if c.Why = nvidia.Visible().Why; c.Why == "" {
		c.Why = "libtorch's CUDA half is not loaded: make cuda"
	}
	return c
}

// Memory is how many bytes of tensors this process has on a card, and the most so far.
func Memory(card int) (now, most int64, ok bool) { return tensor.CardMemory(card) }
