//go:build !notorch

package cli

import (
	"fmt"

	"github.com/redsi/redsi/internal/tensor"
)

// libtorch is the version that this program computes with.
func libtorch() string { return tensor.Version() }

// devices are what it finds to compute on. To find cards loads what they need.
func devices() string {
	if n := tensor.CUDADevices(); n > 0 {
		return fmt.Sprintf("cpu, cuda × %d", n)
	}
	return "cpu"
}
