//go:build !notorch

package cli

import (
	"fmt"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/usage"
)

// libtorch is the version that this program computes with, and devices what it finds.
func libtorch() (version, devices string) {
	if n := tensor.CUDADevices(); n > 0 {
		return tensor.Version(), fmt.Sprintf("cpu, cuda × %d", n)
	}
	return tensor.Version(), "cpu"
}

// cards tells how much of cards this program's tensors take.
func cards() usage.Cards {
	if tensor.CUDADevices() == 0 {
		return usage.Cards{}
	}
	return usage.Cards{Memory: usage.Level{
		Now:  func() (int64, bool) { now, _, ok := tensor.CardMemory(); return now, ok },
		High: func() (int64, bool) { _, most, ok := tensor.CardMemory(); return most, ok && most > 0 },
	}}
}
