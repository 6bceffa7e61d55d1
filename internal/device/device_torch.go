//go:build !notorch

package device

import (
	"context"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
)

// Of is where this worker computes the step of the context. A card is the step's until it
// ends; if all are in use, one is waited for.
func Of(ctx context.Context, name string) (tensor.Device, error) {
	if _, err := tensor.ParseDevice(name); err != nil { // a card that is not there
		return tensor.CPU, step.Permanent(err)
	}
	n, ok, err := Choose(ctx, name, tensor.CUDADevices(), func() string { return Card().Why })
	if err != nil || !ok {
		return tensor.CPU, err
	}
	return tensor.CUDA(n), nil
}
