package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/workflow/v1"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// errDetached says that following a run has ended while the run goes on.
var errDetached = errors.New("detached")

func newAttachCmd(a *app) *cobra.Command {
	var o clusterOptions
	cmd := &cobra.Command{
		Use:   "attach [RUN]",
		Short: "Follow an open run, as `redsi run` shows it; Ctrl-C leaves it running",
		Long: `Follow an open run, as ` + "`redsi run`" + ` shows it; Ctrl-C leaves it running.

RUN is the id that ` + "`redsi status`" + ` prints, or the beginning of it; the default is the
open run that began last. Looks where status looks: at the cluster that was
named, else at the server of the state folder. Exits with 0 if the run succeeded,
with 1 if not, or if it was left running.`,
		Example: `  redsi attach
  redsi attach 20261121T1625
  redsi attach --temporal-address 127.0.0.1:7233`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.attach(cmd.Context(), o, first(args)) },
	}
	o.flags(cmd)
	return cmd
}

func (a *app) attach(ctx context.Context, o clusterOptions, name string) error {
	conn, open, err := a.openRunsNamed(ctx, o, []string{name})
	if err != nil {
		return err
	}
	defer conn.Close()
	run := open[0]
	view.Printf(a.Err, "run %s\nTemporal UI: %s\n", run.RunID, run.URL)
	res, err := a.follow(ctx, conn, conn.Client.GetWorkflow(ctx, run.Workflow, ""), true)
	if errors.Is(err, errDetached) {
		return fault.Failed(fmt.Errorf("detached: run %s continues\n%s follows it again, %s cancels it", run.RunID, a.hint("attach", run.RunID), a.hint("cancel", run.RunID)))
	}
	if err != nil {
		return a.ended(err, run.RunID)
	}
	if a.JSON {
		return view.WriteJSON(a.Out, res)
	}
	view.Printf(a.Out, "run %s has ended: %d hit, %d ran.\n", res.RunID, res.Hit, res.Ran)
	return nil
}

// openRunsNamed connects to where runs may be open and finds those that are named, each by
// its id or the beginning of it ("" and "last": the one that began last); with no name,
// all. Unless there is an error, the caller must close the connection.
func (a *app) openRunsNamed(ctx context.Context, o clusterOptions, names []string) (*connection, []runStatus, error) {
	var where statusReport
	conn, err := a.running(ctx, o, &where)
	if err != nil {
		return nil, nil, err
	}
	if conn != nil {
		var found []runStatus
		if found, names, err = a.pick(ctx, conn, names); err == nil && len(found) > 0 {
			return conn, found, nil
		}
		conn.Close()
	}
	if err == nil {
		err = a.noneOpen(ctx, where.Server, names)
	}
	return nil, nil, err
}

// pick finds open runs: all that are named or, if some do not exist, only their names.
func (a *app) pick(ctx context.Context, conn *connection, names []string) (runs []runStatus, missing []string, err error) {
	open, err := listOpen(ctx, conn.Client, workflows.ReproduceWorkflow)
	if err != nil || len(open) == 0 {
		return nil, names, err
	}
	chosen := open
	if len(names) > 0 {
		chosen = nil
	}
	for _, name := range names {
		w := slices.MaxFunc(open, func(x, y *workflow.WorkflowExecutionInfo) int {
			return x.GetStartTime().AsTime().Compare(y.GetStartTime().AsTime())
		})
		if name != "" && name != "last" {
			if w, err = a.named(ctx, conn, open, name); err != nil || w == nil {
				return nil, []string{name}, err
			}
		}
		chosen = append(chosen, w)
	}
	for _, w := range chosen {
		run := openRun(conn, w)
		run.name(runOf(run.Workflow))
		runs = append(runs, run)
	}
	return runs, nil, nil
}

// runOf is the id of a workflow's run; the workflow's own if redsi did not start it.
func runOf(workflow string) string {
	return strings.TrimPrefix(workflow, workflows.ReproduceWorkflowID(""))
}

// noneOpen says why there is no open run of those names: it has ended, or never existed.
func (a *app) noneOpen(ctx context.Context, server string, names []string) error {
	where := "no server is running for " + a.StateDir
	if server != "" {
		where = "at " + server
	}
	for _, name := range names {
		if name == "" || name == "last" {
			continue
		}
		store, err := a.OpenOwn(ctx)
		if err != nil {
			return err
		}
		rec, err := a.FindRun(ctx, store, name)
		if fault.IsInput(err) {
			return fault.Input(fmt.Errorf("no open run has an id that begins with %q (%s), and %w; %s lists the open ones", name, where, err, a.hint("status")))
		}
		if err != nil {
			return err
		}
		return fault.Input(fmt.Errorf("run %s has ended: %s; %s", rec.RunID, tally(ended(rec).Counts), a.hint("status", "--run", rec.RunID)))
	}
	return fault.Input(errors.New("no run is open (" + where + ")"))
}

// first is the first word; "" if there is none.
func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
