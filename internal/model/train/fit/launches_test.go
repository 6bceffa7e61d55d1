//go:build linux

package fit

import (
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
)

// TestLaunches compares what a training step launches on a card (TestStepCounts holds that golden against the code) with
// what transformers' eager one does (tools/golden/launches.py), by the same rule: at most 40 % of it.
func TestLaunches(t *testing.T) {
	var ours map[string]struct{ Launches int64 }
	var peer struct {
		Train map[string]struct{ Total int64 }
	}
	goldens.JSON(t, "testdata/step_counts.json", &ours)
	goldens.JSON(t, "testdata/launches.json", &peer)
	for _, size := range []string{"tiny", "small", "base"} {
		for _, dtype := range []string{"F32", "BF16", "F16"} {
			mine, theirs := ours[size+" "+dtype].Launches, peer.Train[size].Total
			if mine == 0 || theirs == 0 {
				t.Errorf("%s %s: %d launches of ours, %d of transformers", size, dtype, mine, theirs)
				continue
			}
			share := float64(mine) / float64(theirs)
			t.Logf("%s %s: %d launches, transformers %d: %.0f %%", size, dtype, mine, theirs, 100*share)
			if share > 0.4 {
				t.Errorf("%s %s launches %d kernels a step, %.0f %% of transformers' %d; at most 40 %% is the floor", size, dtype, mine, 100*share, theirs)
			}
		}
	}
}
