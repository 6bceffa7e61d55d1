package model

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/system/fault"
)

// TestPresent: a card that is named is there, or it says why not, as a mistake of who asked.
func TestPresent(t *testing.T) {
	two, none := device.CUDA{Cards: 2}, device.CUDA{Why: "no NVIDIA driver"}
	for _, c := range []struct {
		name string
		have device.CUDA
		want string
	}{
		{"auto", none, ""}, {"cpu", none, ""}, {"cuda", two, ""}, {"cuda:1", two, ""},
		{"cuda", none, "--device cuda: no card found: no NVIDIA driver"},
		{"cuda:2", two, "--device cuda:2: this process has 2 cards, from cuda:0 on"},
		{"cuda:99999999999999999999", two, "this process has 2 cards"},
	} {
		err := Present(c.name, func() (device.CUDA, error) { return c.have, nil })
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && !fault.IsInput(err) {
			t.Errorf("%s: %#v is no mistake of the input", c.name, err)
		}
	}
}
