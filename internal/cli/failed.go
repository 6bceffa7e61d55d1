package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
)

// failuresOf is what failed for good under the keys that must run.
func failuresOf(ctx context.Context, store artifacts.Store, v *plan.Preview) (map[artifacts.Digest]activities.Remembered, error) {
	keys := map[artifacts.Digest]bool{}
	for _, it := range v.Items {
		if it.Outcome == plan.Run {
			keys[it.Key] = true
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return activities.PermanentFailures(ctx, store, keys)
}

// stillFailed leaves out steps that had a result after they failed, forgotten since.
func (j *journal) stillFailed(v *plan.Preview, failed map[artifacts.Digest]activities.Remembered) map[int]view.Failed {
	found := map[int]view.Failed{}
	for i, it := range v.Items {
		f, ok := failed[it.Key]
		if it.Outcome != plan.Run || !ok {
			continue
		}
		address := v.Plan.Steps[i].Address
		if j.key[address] == it.Key && j.run[address] >= f.RunID { // ids of runs begin with their time
			continue
		}
		x := view.Failed{Error: f.Error, Run: f.RunID, Host: f.Host, Ended: f.Ended, Attempt: f.Attempt, Revision: f.Revision, Times: f.Times}
		if now := revision.Of(); f.Revision != "" && f.Revision != now {
			x.Other = now
		}
		found[i] = x
	}
	return found
}

// failedShown is how many steps that failed before are listed before a run.
const failedShown = 5

// failedBefore lists, before a run, what failed for good the last time and, with
// --skip-failed, returns the plan and the preview without it.
func (a *app) failedBefore(ctx context.Context, o runOptions, store artifacts.Store, pl *plan.Plan, try int, out *runSummary) (*plan.Plan, error) {
	failed, err := failuresOf(ctx, store, out.preview)
	if err != nil || len(failed) == 0 {
		return pl, err
	}
	past, err := a.journalOf(ctx, store, out.preview)
	if err != nil || len(past.failed) == 0 {
		return pl, err
	}
	if try == 1 {
		what := "tried again"
		if o.skip {
			what = "left out"
		}
		view.Printf(a.Err, "%s failed before and %s %s:\n", view.Count(len(past.failed), "step"), map[bool]string{true: "is", false: "are"}[len(past.failed) == 1], what)
		for n, i := range slices.Sorted(maps.Keys(past.failed)) {
			if n == failedShown {
				view.Printf(a.Err, "  and %d more\n", len(past.failed)-n)
				break
			}
			view.Printf(a.Err, "  %s %s\n", pl.Steps[i].Address, past.failed[i])
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
	rest, left := pl.Without(func(i int) bool { _, failed := past.failed[i]; return failed })
	out.LeftOut = nil
	for _, i := range left {
		out.LeftOut = append(out.LeftOut, pl.Steps[i].Address)
	}
	out.preview, err = a.previewOf(ctx, store, rest, func(i int, it *plan.Item) bool { return a.isRead(rest, i) })
	return rest, err
}
