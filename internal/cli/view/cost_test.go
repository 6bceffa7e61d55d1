package view

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/estimate"
)

func TestCost(t *testing.T) {
	if text := Cost(&estimate.Estimate{Cost: estimate.Cost{Steps: 1, Bytes: 5}}); !strings.Contains(text, "5 B\n") {
		t.Error(text) // nothing is unknown
	}
	text := Cost(&estimate.Estimate{Cost: estimate.Cost{Steps: 12, Unknown: 2, P50: 5 * 3600, P90: 7 * 3600, GPU: 4, Bytes: 4e9, Unsized: 2, Download: 3e9, Sources: 5, Unfetched: 1}, GPUSteps: 3})
	for _, want := range []string{"12 steps", "5 h 0 min; 7 h 0 min", "4 h 0 min of it", "2 steps without history", "3.0 GB from 4 sources, 1 source of unknown size", "4.0 GB"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
