package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

type runOptions struct {
	drive.RunOptions
	outDir  string
	quiet   bool
	strict  bool
	notify  string          // URL or command
	confirm *confirmOptions // nil: never ask
}

func newRunCmd(a *app) *cobra.Command {
	o := runOptions{confirm: &confirmOptions{}}
	watch := false
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the steps that lack results, and write the tables and figures",
		Long: `Run the steps that lack results, and write the tables and figures, and what publish
blocks name.

Without a cluster, a worker runs inside this command, with an embedded Temporal
server that all commands with this state folder share and that ends with the last
of them; the address of its UI is printed. With --temporal-address,
TEMPORAL_ADDRESS or a Temporal profile, the run goes to that cluster, whose own
workers run the steps. If there is nothing to do, no server is started.

If a run is expected to exceed --confirm-above, you are asked first, on a terminal
only; scripts, pipes and jobs are not held up.

With --watch it then waits until a file changes that the pipeline reads: its own files,
those of modules and file(), local sources and programs. A change during a run does not
disturb it; the next run begins when it has ended. Mistakes in the pipeline are shown,
and the next change is waited for.

Ctrl-C cancels; the next run continues where this one stopped.`,
		Example: `  redsi run
  redsi run -f pipelines.hcl --target table.dedup_counts
  redsi run --watch --target figure.quality
  redsi run --notify 'mail -s "redsi has ended" me@example.org'
  redsi run --temporal-address 127.0.0.1:7233 --detach`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return a.watch(cmd.Context(), o)
			}
			return a.run(cmd.Context(), o)
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	a.fromFlags(cmd)
	o.flags(cmd)
	o.confirm.flags(cmd)
	a.metricsFlag(cmd)
	a.progressFlag(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "run again whenever a file changes that the pipeline reads, until Ctrl-C")
	return cmd
}

func (o *runOptions) flags(cmd *cobra.Command) {
	clusterFlags(cmd, &o.Cluster)
	embedFlags(cmd, &o.Cluster, 0)
	f := cmd.Flags()
	f.BoolVar(&o.Detach, "detach", false, "start the run on the cluster and return")
	f.BoolVar(&o.FailFast, "fail-fast", false, "start nothing new after a step has failed")
	f.IntVar(&o.Priority, "priority", drive.UsualPriority, "1 to 5: of runs that share workers, steps of the one with the lower number begin first; runs of equal priority take turns")
	f.StringVarP(&o.outDir, "out", "o", "results", "folder for tables and figures")
	f.BoolVar(&o.strict, "strict", false, "exit 1 after the run if an expectation fails; see redsi check")
	f.BoolVar(&o.Skip, "skip-failed", false, "leave out steps that failed for good under the same key, and what depends on them; exit 1")
	f.StringVar(&o.notify, "notify", "", "when the run has ended, in whatever way, POST a JSON summary to this http(s) URL, or give it to this shell command on its standard input")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not print tables")
}

func (a *app) run(ctx context.Context, o runOptions) (err error) {
	began := time.Now()
	if err := o.checkNotify(); err != nil {
		return err
	}
	if p := o.Priority; p < 0 || p > 5 || p == 0 && a.cmd.Flags().Changed("priority") {
		return fault.Input(fmt.Errorf("--priority %d: want 1, which is first, to 5; a run without it has %d", p, drive.UsualPriority))
	}
	var sum *drive.Summary
	if o.notify != "" {
		defer func() { a.notify(ctx, o.notify, began, sum, err) }()
	}
	if o.Loaded == nil {
		o.Loaded = a.sayLocal
	}
	o.FailedBefore = func(pl *plan.Plan, failed map[int]journal.Failed) { view.FailedBefore(a.Err, pl, failed, o.Skip) }
	o.Before = func(ctx context.Context, of session.Seen) error {
		view.Ignored(a.Err, origins.Folders(of.Preview.Plan))
		if err := a.sayOthers(ctx, of.Store, of.Preview); err != nil {
			return err
		}
		return a.confirm(ctx, o.confirm, of.Store, of.Preview)
	}
	o.Begun = a.begun
	o.Command = func(more ...string) string {
		args := a.cmd.Flags().Args()
		if targets := a.cmd.Flags().Lookup("target"); targets != nil {
			args = append(args, session.TargetFlags(values(targets))...)
		}
		return a.hint(a.cmd.Name(), append(args, more...)...)
	}
	sum, err = a.Reproduce(ctx, o.RunOptions)
	var drifted *saved.Drifted
	switch {
	case errors.As(err, &drifted):
		return cmp.Or(a.print(map[string]any{"drift": drifted.Drifts}, func(w io.Writer) { view.Drifts(w, drifted.Drifts) }), err)
	case sum == nil:
		return err
	case o.Detach && sum.RunID != "":
		workflow := workflows.ReproduceWorkflowID(sum.RunID)
		return cmp.Or(err, a.print(map[string]string{"workflow": workflow, "run": sum.RunID, "url": sum.URL}, func(w io.Writer) { view.Printf(w, "started %s\n%s\n", workflow, sum.URL) }))
	}
	out := runSummary{Summary: sum, Started: began, TookS: time.Since(began).Seconds()}
	if stopped, ok := errors.AsType[*drive.Cancelled](err); ok {
		if a.JSON && stopped.Sum != "" {
			return cmp.Or(view.WriteJSON(a.Out, out), err)
		}
		return err
	}
	if sum.RunID != "" {
		var verr error
		if out.Compared, verr = rebuild.WithOthers(ctx, a.Session, sum.Of.Store, a.localActivities, sum.Of.Plan, sum.RunID); verr != nil {
			return cmp.Or(err, verr)
		}
	}
	return cmp.Or(err, a.conclude(ctx, o, &out), rebuild.Disagree(out.Compared))
}

// begun says which run is followed.
func (a *app) begun(runID, url string) {
	if a.events != nil {
		a.events.Begun(runID, url)
		return
	}
	view.Printf(a.Err, "run %s\nTemporal UI: %s\n", runID, url)
}

// show shows a run that is followed, and what is said meanwhile.
func (a *app) show() (s drive.Screen, said <-chan string, over func()) {
	lines := make(chan string, 100)
	a.sayer.through(func(text string) {
		select {
		case lines <- text:
		default: // too many lines to read at once
		}
	})
	if a.events != nil {
		return a.events, lines, func() { a.sayer.through(nil) }
	}
	live := view.NewLive(a.Err, a.style(a.Err), terminal(a.Err))
	return live, lines, func() {
		live.Close()
		a.sayer.through(nil)
	}
}
