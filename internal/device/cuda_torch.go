//go:build !notorch

package device

import "github.com/redsi/redsi/internal/tensor"

// Card is what this process has of CUDA. The first call loads it.
func Card() CUDA {
	s := tensor.Card()
	c := CUDA{Cards: tensor.CUDADevices(), Runtime: s.Runtime, Folder: s.Folder, Versions: s.Versions, Graphs: s.Graphs, WhyNoGraphs: s.GraphsReason}
	if c.Cards > 0 {
		return c
	}
	if c.Why = s.Reason; c.Why == "" {
		c.Why = "libtorch finds no card, though its CUDA half is loaded"
	}
	return c
}

// Memory is how many bytes of tensors this process has on a card, and the most so far.
func Memory(card int) (now, most int64, ok bool) { return tensor.CardMemory(card) }
