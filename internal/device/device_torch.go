//go:build !notorch

package device

import (
	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
)

// Of is where this worker computes a step.
func Of(name string) (tensor.Device, error) {
	d, err := tensor.ParseDevice(name)
	return d, step.Permanent(err)
}
