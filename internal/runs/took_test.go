package runs

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/redsi/redsi/internal/stores/mem"
)

// TestTookOfPipeline: how long steps took is known however many runs of other pipelines the store has
// had since, within bounds.
func TestTookOfPipeline(t *testing.T) {
	store := mem.New()
	write := func(n int, pipeline string) {
		t.Helper()
		rec := Record{RunID: fmt.Sprintf("run-%03d", n), Pipeline: pipeline, Steps: []Step{{Address: "step.a.b", Outcome: Ran, TookS: float64(n)}}}
		if err := Write(t.Context(), store, rec); err != nil {
			t.Fatal(err)
		}
	}
	write(1, "mine")
	write(2, "mine")
	for n := range runsLooked - 1 {
		write(10+n, "other")
	}
	if got := Took(t.Context(), store, slog.New(slog.DiscardHandler), "", "mine"); len(got) != 1 || got["step.a.b"] != 2 {
		t.Errorf("%v, want 2 s", got)
	}
	write(100, "other")
	if got := Took(t.Context(), store, slog.New(slog.DiscardHandler), "", "mine"); len(got) != 0 {
		t.Errorf("%v of more than %d runs ago", got, runsLooked)
	}
}
