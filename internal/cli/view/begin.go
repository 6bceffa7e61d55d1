package view

import (
	"io"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/system/words"
)

// failedShown is how many steps that failed before are listed before a run.
const failedShown = 5

// FailedBefore lists, before a run, what failed for good the last time; left: it is left out.
func FailedBefore(w io.Writer, pl *plan.Plan, failed map[int]journal.Failed, left bool) {
	what := "tried again"
	if left {
		what = "left out"
	}
	Printf(w, "%s failed before and %s %s:\n", Count(len(failed), "step"), words.Of(len(failed), "is", "are"), what)
	for _, i := range words.First(slices.Sorted(maps.Keys(failed)), failedShown, func(n int) { Printf(w, "  and %d more\n", n) }) {
		Printf(w, "  %s %s\n", pl.Steps[i].Address, failed[i])
	}
	if !left {
		Printf(w, "--skip-failed leaves them out.\n")
	}
}

// Drifts prints how a plan differs from a saved one.
func Drifts(w io.Writer, drifts []saved.Drift) {
	for _, d := range drifts {
		Printf(w, "%s is %s since the plan was saved\n", d.Address, d.What)
		for _, c := range d.Changes {
			Printf(w, "       %s\n", c)
		}
	}
}
