package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

func newStatusCmd(a *app) *cobra.Command {
	var cluster drive.Cluster
	var run string
	var last int
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show open runs, how far their steps are, and how the last run ended",
		Long: `Looks at the cluster that the flags, the environment or a profile name, else at the server that a
` + "`redsi run`" + ` or ` + "`redsi dev`" + ` with this state folder has started, if it is running. It starts nothing.
A run that does not answer within a second is shown as such. With a slurm block in redsi.local.hcl, the jobs that redsi
run --slurm has submitted are shown. For each run the first running and failed steps are shown; --run shows all.`,
		Example: `  redsi status
  redsi status --last 20
  redsi status --run last
  redsi status --temporal-address 127.0.0.1:7233 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.status(cmd.Context(), cluster, run, last)
			return a.print(r, err, func(w io.Writer) { view.Status(w, a.style(w), r, last > 0, run != "", a.hint) })
		},
	}
	clusterFlags(cmd, &cluster)
	cmd.Flags().StringVar(&run, "run", "", "show only this run, open or ended, in full: its id, or the beginning of it")
	cmd.Flags().IntVar(&last, "last", 1, "show this many of the newest ended runs")
	atLeast(cmd, 0, "last")
	return cmd
}

func (a *app) status(ctx context.Context, cluster drive.Cluster, run string, last int) (r drive.Report, err error) {
	r.Running = []drive.Run{}
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return r, err
	}
	conn, err := a.Running(ctx, cluster, &r)
	if err != nil {
		return r, err
	}
	if conn != nil {
		defer conn.Close()
	}
	if run != "" {
		err = a.StatusOfOne(ctx, store.Own, conn, run, &r)
		return r, err
	}
	r.Pilots = a.pilotsNow(ctx)
	if r.Ended, err = a.EndedRuns(ctx, store.Own, last); err != nil {
		return r, err
	}
	if conn != nil {
		err = a.OpenRuns(ctx, conn, &r)
	}
	return r, err
}

func newAttachCmd(a *app) *cobra.Command {
	var o drive.Cluster
	cmd := &cobra.Command{
		Use:   "attach [RUN]",
		Short: "Follow an open run, as `redsi run` shows it; Ctrl-C leaves it running",
		Long: `RUN is the id that ` + "`redsi status`" + ` prints, or its beginning; without it, the open run that
began last. attach looks where status looks: at the cluster that was named, else at the server of the state folder. It
exits with 0 if the run succeeded, and with 1 if the run failed or was left running.`,
		Example: `  redsi attach
  redsi attach 20261121T1625
  redsi attach --temporal-address 127.0.0.1:7233`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			conn, open, err := a.OpenRunsNamed(ctx, o, []string{first(args)})
			if err != nil {
				return err
			}
			defer conn.Close()
			run := open[0]
			a.begun(run.RunID, run.URL)
			res, err := a.Follow(ctx, conn, conn.Client.GetWorkflow(ctx, run.Workflow, ""), true)
			if errors.Is(err, drive.ErrDetached) {
				return fault.Failed(fmt.Errorf("detached: run %s continues\n`%s` follows it again, `%s` cancels it", run.RunID, a.hint("attach", run.RunID), a.hint("cancel", run.RunID)))
			}
			if err != nil {
				return a.Ended(err, run.RunID, "the command that started it continues from the results in the store", false) // with its own targets
			}
			return a.print(res, nil, func(w io.Writer) { view.Printf(w, "run %s has ended: %d hit, %d ran.\n", res.RunID, res.Hit, res.Ran) })
		},
	}
	clusterFlags(cmd, &o)
	return with(cmd, a.progressFlag)
}

// first is the first word; "" if there is none.
func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func newCancelCmd(a *app) *cobra.Command {
	var o drive.Cluster
	var all bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "cancel [RUN...] [STEP...]",
		Short: "Cancel open runs and wait for them to end; finished results are kept",
		Long: `The next run continues from the finished results.

RUN is the id that ` + "`redsi status`" + ` prints, or its beginning; without it, the open run that began last. cancel
looks where status looks: at the cluster that was named, else at the server of the state folder. A running step stops
at its checkpoint; another run that waits for the step goes on from there.

With STEP, an address such as step.train.dsi or step.train.dsi["tiny"], the run goes on: only that
step, or each step of the block, is cancelled, with what needs it.`,
		Example: `  redsi cancel
  redsi cancel 20261121T1625 --wait 5m
  redsi cancel 20261121T1625 'step.train.dsi["tiny/42"]'
  redsi cancel --all --temporal-address 127.0.0.1:7233`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			at := slices.IndexFunc(args, func(arg string) bool { return strings.Contains(arg, ".") }) // no id of a run has one
			switch {
			case at >= 0 && (all || at > 1):
				return fault.Input(errors.New("steps are cancelled of one run: give its id, or none for the one that began last, and then the steps"))
			case at >= 0:
				id, steps, err := a.CancelSteps(ctx, o, append(args[:at:at], "last")[0], args[at:])
				return a.print(map[string]any{"run": id, "cancelled": steps}, err, func(w io.Writer) {
					view.Printf(w, "run %s goes on without %s, and what needs it\n", id, words.And(steps, namesShown))
				})
			case all && len(args) > 0:
				return fault.Input(errors.New("give either --all or the names of runs"))
			case !all && len(args) == 0:
				args = []string{"last"}
			}
			out, err := a.Cancel(ctx, o, args, wait) // without names, all
			if err := a.print(out, err, func(w io.Writer) { view.Cancelled(w, out) }); err != nil {
				return err
			}
			if open := lists.Count(out, func(x drive.CancelledRun) bool { return x.End == drive.Open }); open > 0 && wait > 0 {
				return fault.Failed(fmt.Errorf("%s %s not ended after %s, but the server keeps the request; to see how far it is: %s", view.Count(open, "run"), words.Of(open, "has", "have"), view.Seconds(wait), a.hint("status")))
			}
			return nil
		},
	}
	clusterFlags(cmd, &o)
	cmd.Flags().BoolVar(&all, "all", false, "cancel all open runs")
	cmd.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait for the runs to end; 0: do not wait")
	atLeast(cmd, 0, "wait")
	return cmd
}
