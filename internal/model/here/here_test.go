//go:build linux

package here

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

func TestMain(m *testing.M) { fakecard.Main(m) }

// TestOf: a step computes on what its process was given, whatever it asks for; a card that
// is not there is an error.
func TestOf(t *testing.T) {
	for name, want := range map[string]tensor.Device{"cpu": tensor.CPU, "auto": tensor.CUDA(0), "cuda": tensor.CUDA(0), "cuda:0": tensor.CUDA(0)} {
		testkit.Of(t, want, name)(Of(t.Context(), name))
		testkit.Of(t, tensor.CPU, name)(Of(device.Give(t.Context(), "cpu"), name))
	}
	if _, err := Of(t.Context(), "cuda:1"); err == nil || !step.IsPermanent(err) || !strings.Contains(err.Error(), "cuda:1") {
		t.Error(err)
	}
	if d, err := Of(device.Give(t.Context(), "cuda:0"), "cuda:1"); err != nil || d != tensor.CUDA(0) {
		t.Error("the card of the process is not taken", d, err)
	}
}
