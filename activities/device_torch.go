//go:build !notorch

package activities

import (
	"github.com/redsi/redsi/internal/step"
	"github.com/redsi/redsi/internal/tensor"
)

// deviceOf is where this worker computes a step: auto is the first CUDA device,
// or the CPU where there is none.
func deviceOf(name string) (tensor.Device, error) {
	if name == "auto" {
		if tensor.CUDADevices() > 0 {
			return tensor.CUDA(0), nil
		}
		return tensor.CPU, nil
	}
	d, err := tensor.ParseDevice(name)
	return d, step.Permanent(err)
}
