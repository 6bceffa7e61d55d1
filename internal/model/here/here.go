// Package here is where a process of the second program computes: its threads and its card,
// what libtorch's errors mean for a card, and what it finds on the machine.
package here

import (
	"context"

	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/model/driver"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/step"
)

// Of is where the step of the context computes: on what its process was given, else where
// it asks for, or on the first card of all.
func Of(ctx context.Context, name string) (tensor.Device, error) {
	if given := device.Given(ctx); given != "" {
		name = given
	}
	d, err := tensor.ParseDevice(name) // an error: a card that is not there
	return d, step.Permanent(err)
}

// Facts are of this process. The first call loads libtorch's half for cards.
func Facts() device.Facts {
	s := tensor.Card()
	c := device.CUDA{Cards: tensor.CUDADevices(), Runtime: s.Runtime, Folder: s.Folder, Graphs: s.Graphs, WhyNoGraphs: s.GraphsReason}
	if c.Cards == 0 {
		if c.Why = s.Reason; c.Why == "" {
			c.Why = "libtorch finds no card, though its CUDA half is loaded"
		}
	}
	f := device.Facts{Libtorch: tensor.Version(), Instructions: tensor.CPUCapability(), Exact: tensor.SameForAnyThreads(), CUDA: c, Machine: driver.Here()}
	if len(f.Machine.Cards) > 0 || c.Cards > 0 {
		f.Process = driver.Visible()
	}
	return f
}
