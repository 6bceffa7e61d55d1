//go:build !notorch

package cli

import (
	"fmt"

	"github.com/redsi/redsi/internal/tensor"
)

// libtorch is the version that this program computes with, and devices what it finds.
func libtorch() (version, devices string) {
	if n := tensor.CUDADevices(); n > 0 {
		return tensor.Version(), fmt.Sprintf("cpu, cuda × %d", n)
	}
	return tensor.Version(), "cpu"
}
