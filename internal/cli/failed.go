package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
)

// failedShown is how many steps that failed before are listed before a run.
const failedShown = 5

// failedBefore lists, before a run, what failed for good the last time and, with
// --skip-failed, returns the plan and the preview without it.
func (a *app) failedBefore(ctx context.Context, o runOptions, store artifacts.Store, pl *plan.Plan, try int, out *runSummary) (*plan.Plan, error) {
	failed, err := journal.Failures(ctx, store, out.preview)
	if err != nil || len(failed) == 0 {
		return pl, err
	}
	past, err := a.Journal(ctx, store, out.preview)
	if err != nil || len(past.Failed) == 0 {
		return pl, err
	}
	if try == 1 {
		what := "tried again"
		if o.skip {
			what = "left out"
		}
		view.Printf(a.Err, "%s failed before and %s %s:\n", view.Count(len(past.Failed), "step"), map[bool]string{true: "is", false: "are"}[len(past.Failed) == 1], what)
		for n, i := range slices.Sorted(maps.Keys(past.Failed)) {
			if n == failedShown {
				view.Printf(a.Err, "  and %d more\n", len(past.Failed)-n)
				break
			}
			view.Printf(a.Err, "  %s %s\n", pl.Steps[i].Address, past.Failed[i])
		}
		if !o.skip {
			view.Printf(a.Err, "--skip-failed leaves them out.\n")
		}
	}
	if !o.skip {
		return pl, nil
	}
	if o.saved != nil {
		return nil, fault.Input(fmt.Errorf("--skip-failed cannot be used with a saved plan, which is run as it is"))
	}
	rest, left := pl.Without(func(i int) bool { _, failed := past.Failed[i]; return failed })
	out.LeftOut = nil
	for _, i := range left {
		out.LeftOut = append(out.LeftOut, pl.Steps[i].Address)
	}
	out.preview, err = a.PreviewOf(ctx, store, rest, func(i int, it *plan.Item) bool { return a.IsRead(rest, i) })
	return rest, err
}
