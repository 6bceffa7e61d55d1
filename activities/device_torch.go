//go:build !notorch

package activities

import (
	"github.com/redsi/redsi/internal/step"
	"github.com/redsi/redsi/internal/tensor"
)

// deviceOf is where this worker computes a step.
func deviceOf(name string) (tensor.Device, error) {
	d, err := tensor.ParseDevice(name)
	return d, step.Permanent(err)
}
