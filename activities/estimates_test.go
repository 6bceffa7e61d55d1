package activities

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/workflows"
)

// TestTookOfPipeline: how long steps took is known however many runs of other pipelines the store has
// had since, within bounds.
func TestTookOfPipeline(t *testing.T) {
	a := &Activities{Store: mem.New(), Log: slog.New(slog.DiscardHandler)}
	write := func(n int, pipeline string) {
		t.Helper()
		rec := workflows.RunRecord{RunID: fmt.Sprintf("run-%03d", n), Pipeline: pipeline, Steps: []workflows.RunStep{{Address: "step.a.b", Outcome: workflows.Ran, TookS: float64(n)}}}
		if err := WriteRun(t.Context(), a.Store, rec); err != nil {
			t.Fatal(err)
		}
	}
	write(1, "mine")
	write(2, "mine")
	for n := range runsLooked - 1 {
		write(10+n, "other")
	}
	if got := a.took(t.Context(), "", "mine"); len(got) != 1 || got["step.a.b"] != 2 {
		t.Errorf("%v, want 2 s", got)
	}
	write(100, "other")
	if got := a.took(t.Context(), "", "mine"); len(got) != 0 {
		t.Errorf("%v of more than %d runs ago", got, runsLooked)
	}
}
