package device

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSupported: a card has code of its own generation, or is newer than all of them.
func TestSupported(t *testing.T) {
	for _, c := range []struct {
		card nvidia.Version
		arch string
		want bool
	}{
		{nvidia.Version{Major: 7}, "amd64", false}, // V100
		{nvidia.Version{Major: 6, Minor: 1}, "amd64", false},
		{nvidia.Version{Major: 7, Minor: 5}, "amd64", true}, // T4
		{nvidia.Version{Major: 7, Minor: 5}, "arm64", false},
		{nvidia.Version{Major: 8, Minor: 9}, "amd64", true}, // L4
		{nvidia.Version{Major: 9}, "amd64", true},
		{nvidia.Version{Major: 10, Minor: 3}, "amd64", true},
		{nvidia.Version{Major: 11}, "amd64", false},
		{nvidia.Version{Major: 11}, "arm64", true},
		{nvidia.Version{Major: 12, Minor: 1}, "amd64", true},
		{nvidia.Version{Major: 15}, "amd64", true},
		{nvidia.Version{}, "amd64", true}, // not told
	} {
		if why := supported(c.card, c.arch); (why == "") != c.want {
			t.Errorf("%s on %s: %q", c.card, c.arch, why)
		}
	}
	if why := supported(nvidia.Version{Major: 7}, "amd64"); why != "compute capability 7.0: this libtorch has code for cards from 7.5 on, and none for this one" {
		t.Error(why)
	}
}

// TestDriverFor: a driver is one for libtorch's CUDA, or says which would be.
func TestDriverFor(t *testing.T) {
	for v, want := range map[nvidia.Version]string{
		{Major: 13}: "", {Major: 13, Minor: 2}: "", {Major: 14}: "", {}: "",
		{Major: 12, Minor: 8}: "for CUDA up to 12.8, libtorch's CUDA half of 13.0: that needs a driver 580 or newer",
	} {
		if why := DriverFor(v); (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("%s: %q", v, why)
		}
	}
}

// TestFacts: what is kept with a result is what is known of the card that it was made on.
func TestFacts(t *testing.T) {
	p := nvidia.Process{CUDA: nvidia.Version{Major: 13, Minor: 2}, Cards: []nvidia.Card{{Name: "NVIDIA H200", UUID: "GPU-1"}, {Name: "NVIDIA L4", UUID: "GPU-2"}}}
	f := Facts{Process: p, Machine: nvidia.Machine{Driver: "595.1"}, CUDA: CUDA{Runtime: "13.0"}}
	want := []Fact{{"card", "NVIDIA L4"}, {"card number", "cuda:1"}, {"card id", "GPU-2"}, {"driver", "595.1"}, {"driver's CUDA", "13.2"}, {"CUDA", "13.0"}}
	testkit.Deep(t, f.Of(1), want)
	want = []Fact{{"card", "cuda:2"}}
	testkit.Deep(t, (Facts{}).Of(2), want)
	for n, want := range []string{"cuda:0 NVIDIA H200", "cuda:1 NVIDIA L4", "cuda:2"} {
		testkit.Is(t, f.Name(n), want)
	}
	if f.CUDA.Cards = 2; f.Devices() != "cpu, cuda × 2" || (Facts{}).Devices() != "cpu" {
		t.Error(f.Devices(), (Facts{}).Devices())
	}
}
