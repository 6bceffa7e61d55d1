package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

type runOptions struct {
	cluster  drive.Cluster
	detach   bool
	failFast bool
	outDir   string
	quiet    bool
	strict   bool
	skip     bool            // leave out what failed for good before
	confirm  *confirmOptions // nil: never ask
	saved    *saved.Plan     // nil: none
}

func newRunCmd(a *app) *cobra.Command {
	o := runOptions{confirm: &confirmOptions{}}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the steps that lack results, and write the tables and figures",
		Long: `Run the steps that lack results, and write the tables and figures.

Without a cluster, a worker runs inside this command, with an embedded Temporal
server that all commands with this state folder share and that ends with the last
of them; the address of its UI is printed. With --temporal-address,
TEMPORAL_ADDRESS or a Temporal profile, the run goes to that cluster, whose own
workers run the steps. If there is nothing to do, no server is started.

If a run is expected to exceed --confirm-above, you are asked first, on a terminal
only; scripts, pipes and jobs are not held up.

Ctrl-C cancels; the next run continues where this one stopped.`,
		Example: `  redsi run
  redsi run -f pipelines.hcl --target table.dedup_counts
  redsi run --temporal-address 127.0.0.1:7233 --detach`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), o) },
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	a.fromFlags(cmd)
	o.flags(cmd)
	o.confirm.flags(cmd)
	a.metricsFlag(cmd)
	return cmd
}

func (o *runOptions) flags(cmd *cobra.Command) {
	clusterFlags(cmd, &o.cluster)
	embedFlags(cmd, &o.cluster, 0)
	f := cmd.Flags()
	f.BoolVar(&o.detach, "detach", false, "start the run on the cluster and return")
	f.BoolVar(&o.failFast, "fail-fast", false, "start nothing new after a step has failed")
	f.StringVarP(&o.outDir, "out", "o", "results", "folder for tables and figures")
	f.BoolVar(&o.strict, "strict", false, "exit 1 after the run if an expectation fails; see redsi check")
	f.BoolVar(&o.skip, "skip-failed", false, "leave out steps that failed for good under the same key, and what depends on them; exit 1")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not print tables")
}

func (a *app) run(ctx context.Context, o runOptions) error {
	if o.detach && !o.cluster.Given() {
		return fault.Input(fmt.Errorf("--detach needs a cluster that outlives this command: give --temporal-address, or start one with `%s`", a.hint("dev")))
	}
	pl, p, err := a.LoadPlan(ctx)
	if err != nil {
		return err
	}
	a.sayLocal()
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	out := runSummary{Pipeline: pl.Pipeline, Started: time.Now()}
	for try, full := 1, pl; ; try++ {
		if out.preview, err = a.PreviewOf(ctx, store, pl, func(i int, it *plan.Item) bool { return a.IsRead(pl, i) || o.saved.Other(pl, i, it) }); err != nil {
			return err
		}
		if pl, err = a.failedBefore(ctx, o, store, full, try, &out); err != nil {
			return err
		}
		if try == 1 {
			if err := a.sayOthers(ctx, store, out.preview); err != nil {
				return err
			}
			if err := a.confirm(ctx, o.confirm, store, out.preview); err != nil {
				return err
			}
			if err := a.begin(o.saved, out.preview); err != nil {
				return err
			}
		}
		if out.Hit = out.preview.Summary().Hit; out.preview.Done() {
			err = a.RecordHits(ctx, store, pl, out.preview)
			break
		}
		if o.cluster.Given() {
			if err := a.BringRead(ctx, store, out.preview); err != nil {
				return err
			}
		}
		if err = a.drive(ctx, o, store, pl, &out); err == nil || try == planTries {
			break
		}
		next, cerr := a.afterChange(ctx, o, p, full, err)
		if err = cerr; err != nil {
			break
		}
		pl, full = next, next
	}
	var failed *workflows.RunError
	if o.detach && out.RunID != "" { // the run goes on without this command
		return err
	}
	var stopped *cancelledError
	if errors.As(err, &stopped) {
		return cmp.Or(a.tellCancelled(ctx, store, pl, &out, stopped), err)
	}
	if err != nil && (!errors.As(err, &failed) || failed.Result.RunID == "") {
		return err
	}
	if failed != nil { // finished results are written anyway
		out.Failed, out.Skipped, out.Cancelled, out.NotStarted = failed.Result.Failed, failed.Result.Skipped, failed.Result.Cancelled, failed.Result.NotStarted
		out.RunID, out.Hit, out.Ran = failed.Result.RunID, failed.Result.Hit, failed.Result.Ran
	}
	if out.RunID != "" {
		if rerr := a.FillResults(ctx, store, out.preview, out.RunID); rerr != nil {
			return cmp.Or(err, rerr)
		}
	}
	if berr := a.BringAsked(ctx, store, out.preview); berr != nil {
		return cmp.Or(err, berr)
	}
	out.From = a.HitsFrom(out.preview)
	if out.RunID != "" {
		var verr error
		if out.Compared, verr = rebuild.WithOthers(ctx, a.Session, store, a.alone, pl, out.RunID); verr != nil {
			return cmp.Or(err, verr)
		}
	}
	if perr := a.PinSources(out.preview); perr != nil {
		return cmp.Or(err, perr)
	}
	if cerr := a.conclude(ctx, o, store, pl, p, &out); cerr != nil {
		return cmp.Or(err, cerr)
	}
	if err == nil && len(out.LeftOut) > 0 {
		err = fault.Failed(fmt.Errorf("%s left out that failed before, or need such a step; without --skip-failed they are tried again", view.Count(len(out.LeftOut), "step")))
	}
	if err != nil && out.lacks != nil {
		err = fault.Input(fmt.Errorf("%w\n%w", err, out.lacks))
	}
	return cmp.Or(err, rebuild.Disagree(out.Compared))
}

// begin checks, before anything is done, that a plan is the saved one and that the project
// has an id.
func (a *app) begin(saved *saved.Plan, v *plan.Preview) error {
	if saved != nil {
		if err := a.refuse(saved, v); err != nil {
			return err
		}
	}
	if _, err := lockfile.Project(a.LockFile()); err != nil {
		a.Log.Warn("this project has no id: figures from earlier runs may belong to another pipeline with this name in the store", "err", err)
	}
	return nil
}

// drive starts the workflow, here or on a cluster, and follows it to the end.
func (a *app) drive(ctx context.Context, o runOptions, store artifacts.Store, pl *plan.Plan, out *runSummary) error {
	if err := a.MayRecord(); err != nil {
		return err
	}
	if err := a.StartTelemetry(ctx); err != nil {
		return err
	}
	var ready <-chan error
	if !o.cluster.Given() {
		ready = a.ReadySecond(ctx, out.preview) // while the server starts
	}
	conn, err := a.Connect(ctx, o.cluster, store)
	if err != nil {
		return err
	}
	if ready != nil {
		out.lacks = <-ready
	}
	defer func() {
		defer a.waiting("waiting for the worker and the Temporal server to stop")()
		conn.Close()
	}()
	sent := a.waiting("sending the plan to the store")
	defer sent()
	digest, err := activities.StorePlan(ctx, store.Blobs, pl)
	if err = cmp.Or(err, a.StoreLibraries(ctx, store, pl)); err != nil {
		return err
	}
	hits, err := activities.PagesOf(ctx, store.Blobs, activities.HitsOf(out.preview))
	if err != nil {
		return err
	}
	runID := drive.NewRunID()
	in := workflows.ReproduceInput{Pipeline: pl.Pipeline, Targets: a.Targets, FailFast: o.failFast, Plan: &digest, RunID: runID, Project: a.Project(), Hits: &hits}
	sent()
	begun := a.waiting("starting the run")
	defer begun()
	var wf client.WorkflowRun
	err = a.Persist(ctx, conn, "the start of the run", func(ctx context.Context) (err error) {
		wf, err = conn.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: workflows.ReproduceWorkflowID(runID), TaskQueue: workflows.TaskQueue, RetryPolicy: workflows.RunAgain(), WorkflowTaskTimeout: workflows.TaskTimeout,
			StaticSummary: a.runSummary(pl), StaticDetails: a.runDetails(pl, store, digest),
		}, workflows.ReproduceWorkflow, in)
		return err
	})
	if err != nil {
		return fmt.Errorf("start the run: %w", err)
	}
	begun()
	url := conn.RunURL(wf.GetID(), wf.GetRunID())
	if o.detach {
		out.RunID = runID
		if a.JSON {
			return view.WriteJSON(a.Out, map[string]string{"workflow": wf.GetID(), "run": runID, "url": url})
		}
		view.Printf(a.Out, "started %s\n%s\n", wf.GetID(), url)
		return nil
	}
	view.Printf(a.Err, "run %s\nTemporal UI: %s\n", runID, url)
	res, err := a.follow(ctx, conn, wf, false)
	if err != nil {
		err = a.ended(err, runID)
		var failed *workflows.RunError
		if errors.As(err, &failed) && failed.PlanLost != nil && o.cluster.Given() { // it was stored a moment ago
			err = fmt.Errorf("%w\n%s", err, a.otherStore(store.URL, failed.PlanLost.Store))
		}
		return err
	}
	out.RunID, out.Hit, out.Ran, out.URL = runID, res.Hit, res.Ran, url
	return nil
}

// otherStore says what to do if the cluster's workers have a different store from this
// command's.
func (a *app) otherStore(ours, theirs string) string {
	if ours == theirs {
		return fmt.Sprintf("This command and the cluster's workers both use the store %s, but it is a different folder on their machine: use a store that both can reach, such as a bucket", ours)
	}
	args := slices.Clone(a.cmd.Flags().Args())
	if targets := a.cmd.Flags().Lookup("target"); targets != nil {
		args = append(args, session.TargetFlags(values(targets))...)
	}
	return fmt.Sprintf("This command uses the store %s, the cluster's workers use %s. Use theirs: `%s`; or start them with yours: `%s`",
		ours, theirs, a.hint(a.cmd.Name(), append(args, "--store", theirs)...), a.hint("worker", "--store", ours))
}

// toldError is a shorter form of an error that has been shown already.
type toldError struct {
	error
	text string
}

func (e *toldError) Error() string { return e.text }

func (e *toldError) Unwrap() error { return e.error }

// once is a run's error without the further lines of its steps' errors, which the FAIL lines
// of a followed run have shown.
func (a *app) once(failed error, runID string) error {
	lines := strings.Split(failed.Error(), "\n")
	short := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return strings.HasPrefix(s, "    ") })
	if a.cmd.Name() == "test" || len(short) == len(lines) {
		return failed
	}
	return &toldError{failed, strings.Join(short, "\n") + "\n`" + a.hint("logs", "--failed", "--run", runID) + "` shows all of it"}
}

// ended turns a workflow's error into one for the user.
func (a *app) ended(err error, runID string) error {
	var canceled *temporal.CanceledError
	var unknown *serviceerror.NotFound
	var terminated *temporal.TerminatedError
	goesOn := "`" + a.ToRun(a.Targets...) + "` continues from the results in the store"
	if a.cmd.Name() == "attach" { // the run belongs to another command, with its own targets
		goesOn = "the command that started it continues from the results in the store"
	}
	switch {
	case errors.As(err, &terminated):
		return fault.Failed(fmt.Errorf("run %s was ended from outside, by a person or the Temporal server; its UI says why. %s", runID, goesOn))
	case errors.As(err, &canceled), errors.Is(err, context.Canceled):
		return fault.Failed(&cancelledError{id: runID, next: goesOn})
	case workflows.ErrorOf(err) != nil:
		failed := workflows.ErrorOf(err)
		if failed.Type != workflows.FailedRun {
			return fault.Failed(failed)
		}
		return fault.Failed(fmt.Errorf("%w\n%s", a.once(failed, runID), goesOn))
	case errors.As(err, &unknown):
		return fault.Failed(fmt.Errorf("Temporal no longer knows run %s (%w); %s", runID, err, goesOn))
	}
	return err
}
