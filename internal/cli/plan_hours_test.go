package cli

import (
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/session/journal"
)

// TestTookOnCard: only what was computed on a card says how long a card takes. Results of
// older releases name the machine's cards whether or not the step computed there.
func TestTookOnCard(t *testing.T) {
	for name, x := range map[string]struct {
		r    *artifacts.Result
		want int
	}{
		"no result":              {nil, 0},
		"nothing measured":       {&artifacts.Result{Took: time.Hour}, 0},
		"a card beside it":       {&artifacts.Result{Took: time.Hour, Used: &artifacts.Used{Card: "NVIDIA H100 80GB HBM3"}}, 0},
		"on a processor":         {&artifacts.Result{Took: time.Hour, Used: &artifacts.Used{Memory: 5}}, 0},
		"memory of a card's own": {&artifacts.Result{Took: time.Hour, Used: &artifacts.Used{Card: "NVIDIA H100 80GB HBM3", CardMemory: 7}}, 1},
	} {
		if got := journal.TookOnCard(x.r); len(got) != x.want || x.want == 1 && (got[0].Took != time.Hour || got[0].Card != "NVIDIA H100 80GB HBM3") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
