package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

func (dr *Driver) start(ctx context.Context, o RunOptions, out *Summary) error {
	if err := dr.MayRecord(); err != nil {
		return err
	}
	if err := dr.StartTelemetry(ctx); err != nil {
		return err
	}
	var ready <-chan error
	if !o.Cluster.Given() && !dr.head(o.Cluster) {
		ready = dr.ReadySecond(ctx, out.Of.Preview) // while the server starts
	}
	store := out.Of.Store
	conn, err := dr.Connect(ctx, o.Cluster, store)
	if err != nil {
		return err
	}
	if ready != nil {
		out.Lacks = <-ready
	}
	defer func() {
		defer dr.Waiting("waiting for the worker and the Temporal server to stop")()
		conn.Close()
	}()
	in, err := dr.send(ctx, o, out)
	if err != nil {
		return err
	}
	begun := dr.Waiting("starting the run")
	defer begun()
	var wf client.WorkflowRun
	err = dr.Persist(ctx, conn, "the start of the run", func(ctx context.Context) (err error) {
		if o.Pilots != nil {
			var id string
			if wf, id, err = goesOn(ctx, conn, *in.Plan); err != nil || wf != nil {
				if err == nil {
					in.RunID = id
					dr.Say("run " + id + " of this plan is still open: it goes on, and Ctrl-C cancels it for all commands that follow it")
				}
				return err
			}
		}
		wf, err = conn.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: workflows.ReproduceWorkflowID(in.RunID), TaskQueue: conn.Queue(store.Own), RetryPolicy: workflows.RunAgain(), WorkflowTaskTimeout: workflows.TaskTimeout,
			Memo:          conn.stays(),
			Priority:      temporal.Priority{PriorityKey: o.Priority, FairnessKey: in.RunID, FairnessWeight: 1}, // all of the run inherits it; an older server ignores it
			StaticSummary: workflows.Short(cmp.Or(strings.Join(dr.Targets, " "), "all steps") + " of " + in.Pipeline), StaticDetails: dr.details(out.Of.Plan, store.Own, *in.Plan),
		}, workflows.ReproduceWorkflow, in)
		return err
	})
	if err != nil {
		return fmt.Errorf("start the run: %w", err)
	}
	begun()
	url := conn.RunURL(wf.GetID(), wf.GetRunID())
	if o.Detach {
		out.RunID, out.URL = in.RunID, url
		return nil
	}
	if o.Begun != nil {
		o.Begun(in.RunID, url)
	}
	over := func() {}
	if o.Pilots != nil {
		over = o.Pilots.serve(ctx, dr, conn, wf, store.Own)
	}
	res, err := dr.Follow(ctx, conn, wf, false)
	over()
	if err != nil {
		err = dr.Ended(err, in.RunID, "`"+dr.ToRun(dr.Targets...)+"` continues from the results in the store", o.InFull)
		if failed, ok := errors.AsType[*workflows.RunError](err); ok && failed.PlanLost != nil && o.Cluster.Given() { // it was stored a moment ago
			err = fmt.Errorf("%w\n%s", err, dr.otherStore(o, store.Own.URL, failed.PlanLost.Store))
		}
		return err
	}
	out.RunID, out.Hit, out.Ran, out.URL = in.RunID, res.Hit, res.Ran, url
	out.Released = res.Released
	return nil
}

func (dr *Driver) send(ctx context.Context, o RunOptions, out *Summary) (in workflows.ReproduceInput, err error) {
	defer dr.Waiting("sending the plan to the store")()
	of := out.Of
	digest, err := plan.Store(ctx, of.Store.Own.Blobs, of.Plan)
	if err = cmp.Or(err, dr.StoreLibraries(ctx, of.Store.Own, of.Plan)); err != nil {
		return in, err
	}
	hits, err := activities.PagesOf(ctx, of.Store.Own.Blobs, activities.HitsOf(of.Preview))
	dir, _ := os.Getwd()
	in = workflows.ReproduceInput{Pipeline: of.Plan.Pipeline, Targets: dr.Targets, FailFast: o.FailFast, Plan: &digest, RunID: NewRunID(), Project: dr.Project(), Dir: dir, Hits: &hits}
	if o.Pilots != nil {
		in.Slots = o.Pilots.slots()
	}
	return in, err
}

const variablesShown = 20

func (dr *Driver) details(pl *plan.Plan, store artifacts.Store, digest artifacts.Digest) string {
	facts := []workflows.Fact{{Name: "targets", Value: cmp.Or(strings.Join(dr.Targets, " "), "all")}, {Name: "steps", Value: words.Count(len(pl.Steps), "step")},
		{Name: "revision", Value: revision.Of()}, {Name: "store", Value: store.URL}, {Name: "plan", Value: digest.String()}}
	for _, name := range words.First(slices.Sorted(maps.Keys(dr.Variables)), variablesShown, func(_ int) {
		facts = append(facts, workflows.Fact{Name: "var.…", Value: "the plan in the store has the others"})
	}) {
		facts = append(facts, workflows.Fact{Name: "var." + name, Value: workflows.Short(dr.Variables[name])})
	}
	return workflows.StartDetails(facts)
}

// otherStore says what to do if the cluster's workers have another store than this command.
func (dr *Driver) otherStore(o RunOptions, ours, theirs string) string {
	if ours == theirs {
		return fmt.Sprintf("This command and the cluster's workers both use the store %s, but it is a different folder on their machine: use a store that both can reach, such as a bucket", ours)
	}
	return fmt.Sprintf("This command uses the store %s, the cluster's workers use %s. Use theirs: `%s`; or start them with yours: `%s`",
		ours, theirs, o.Command("--store", theirs), dr.Hint("worker", "--store", ours))
}

// toldError is a shorter form of an error that has been shown already.
type toldError struct {
	error
	text string
}

func (e *toldError) Error() string { return e.text }

func (e *toldError) Unwrap() error { return e.error }

// once is a run's error without the further lines of steps' errors, which its followers have seen, unless inFull. A line that ends in
// a colon keeps the last of its further lines.
func (dr *Driver) once(failed error, runID string, inFull bool) error {
	lines, base := strings.Split(failed.Error(), "\n"), ""
	var short []string
	for _, s := range lines {
		if further, is := strings.CutPrefix(s, "    "); !is {
			base, short = s, append(short, s)
		} else if strings.HasSuffix(base, ":") {
			short[len(short)-1] = base + " " + strings.TrimSpace(further) // the last one, in the end
		}
	}
	if inFull || len(short) == len(lines) {
		return failed
	}
	return &toldError{failed, strings.Join(short, "\n") + "\n`" + dr.Hint("logs", "--failed", "--run", runID) + "` shows all of it"}
}

// Ended turns a workflow's error into the user's; goesOn says how to continue, inFull that nobody has seen steps' errors.
func (dr *Driver) Ended(err error, runID, goesOn string, inFull bool) error {
	var unknown *serviceerror.NotFound
	switch {
	case temporal.IsTerminatedError(err):
		return fault.Failed(fmt.Errorf("run %s was ended from outside, by a person or the Temporal server; its UI says why. %s", runID, goesOn))
	case temporal.IsCanceledError(err), errors.Is(err, context.Canceled):
		return fault.Failed(&Cancelled{RunID: runID, Next: goesOn})
	case workflows.ErrorOf(err) != nil:
		failed := workflows.ErrorOf(err)
		if failed.Type != workflows.FailedRun {
			return fault.Failed(failed)
		}
		return fault.Failed(fmt.Errorf("%w\n%s", dr.once(failed, runID, inFull), goesOn))
	case errors.As(err, &unknown):
		return fault.Failed(fmt.Errorf("Temporal no longer knows run %s (%w); %s", runID, err, goesOn))
	}
	return err
}
