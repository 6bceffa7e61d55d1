//go:build !notorch

package device

import (
	"github.com/redsi/redsi/internal/nvidia"
	"github.com/redsi/redsi/internal/tensor"
)

// Card is what this process has of CUDA.
func Card() CUDA {
	c := CUDA{Cards: tensor.CUDADevices(), For: madeFor}
	if c.Cards > 0 {
		return c
	}
	c.Why, c.Do = "libtorch's CUDA half is not loaded", "make cuda"
	if p := nvidia.Visible(); p.Why != "" {
		c.Why, c.Do = p.Why, ""
	}
	return c
}

// Memory is how many bytes of tensors this process has on a card, and the most so far.
func Memory(card int) (now, most int64, ok bool) { return tensor.CardMemory(card) }
