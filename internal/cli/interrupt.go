package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// exitOnInterrupt ends the process, and the programs of its steps, at the next
// interrupt.
func (a *app) exitOnInterrupt(ctx context.Context) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	select {
	case <-c:
		if a.Scratch != nil {
			a.Scratch.EndPrograms()
		}
		os.Exit(fault.CodeFailed)
	case <-ctx.Done():
		signal.Stop(c)
	}
}

// cancelledError is the error of a cancelled run.
type cancelledError struct {
	id, next string
	sum      string               // how its steps ended; "": no record
	resumes  []journal.Checkpoint // of its steps
}

func (e *cancelledError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s was cancelled", e.id)
	if e.sum != "" {
		b.WriteString(": " + e.sum)
	}
	for _, c := range e.resumes {
		fmt.Fprintf(&b, "\n%s %s", c.Address, c)
	}
	return b.String() + "\n" + e.next
}

// recordPatience bounds reading the record of a cancelled run.
const recordPatience = 10 * time.Second

// tellCancelled adds to the error of a cancelled run how its steps ended, and prints that as
// JSON with --json. The run's context has ended.
func (a *app) tellCancelled(ctx context.Context, store artifacts.Store, pl *plan.Plan, out *runSummary, e *cancelledError) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordPatience)
	defer cancel()
	defer a.waiting("reading the run's record")()
	out.RunID, out.Rendered, out.TookS = e.id, []renderedFile{}, time.Since(out.Started).Seconds()
	rec, err := activities.ReadRun(ctx, store, e.id)
	if err != nil {
		a.Log.Debug("the record of a cancelled run", "err", err)
		return nil
	}
	out.Hit, out.Ran, out.Failed, out.Skipped = rec.Counts[workflows.Hit], rec.Counts[workflows.Ran], rec.Counts[workflows.Failed], rec.Counts[workflows.Skipped]
	out.Cancelled, out.NotStarted = rec.Counts[workflows.Cancelled], rec.Counts[workflows.NotStarted]
	e.sum = out.sum(len(pl.Steps))
	if len(rec.Steps) == len(pl.Steps) {
		keys := map[int]artifacts.Digest{}
		for i, s := range rec.Steps {
			if s.Outcome == workflows.Cancelled {
				keys[i] = s.Key
			}
		}
		found, err := journal.Checkpoints(ctx, a.Registry, store, pl, keys)
		if err != nil {
			a.Log.Debug("the checkpoints of a cancelled run", "err", err)
		}
		for _, i := range slices.Sorted(maps.Keys(found)) {
			e.resumes = append(e.resumes, found[i])
		}
	}
	out.Checkpoints = e.resumes
	if a.JSON {
		return view.WriteJSON(a.Out, out)
	}
	return nil
}
