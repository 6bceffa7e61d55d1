package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// cancelledRun is what happened to a run that was to be cancelled.
type cancelledRun struct {
	RunID string `json:"run"`
	End   string `json:"end"` // "cancelled", "completed", "failed", or "open": asked, not ended yet
	Waits string `json:"waits_for,omitempty"`
}

func newCancelCmd(a *app) *cobra.Command {
	var o drive.Cluster
	var all bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "cancel [RUN...]",
		Short: "Cancel open runs and wait for them to end; finished results are kept",
		Long: `Cancel open runs and wait for them to end; finished results are kept, and the next
run continues from there.

RUN is the id that ` + "`redsi status`" + ` prints, or the beginning of it; the default is the
open run that began last. Looks where status looks: at the cluster that was
named, else at the server of the state folder. A step that other runs also wait
for keeps running for them.`,
		Example: `  redsi cancel
  redsi cancel 20261121T1625 --wait 5m
  redsi cancel --all --temporal-address 127.0.0.1:7233`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case wait < 0:
				return fault.Input(errors.New("--wait cannot be negative"))
			case all && len(args) > 0:
				return fault.Input(errors.New("give either --all or the names of runs"))
			case !all && len(args) == 0:
				args = []string{"last"}
			}
			return a.cancel(cmd.Context(), o, args, wait)
		},
	}
	clusterFlags(cmd, &o)
	cmd.Flags().BoolVar(&all, "all", false, "cancel all open runs")
	cmd.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait for the runs to end; 0: do not wait")
	return cmd
}

// cancel cancels the named runs; without names, all.
func (a *app) cancel(ctx context.Context, o drive.Cluster, names []string, wait time.Duration) error {
	conn, runs, err := a.OpenRunsNamed(ctx, o, names)
	if err != nil {
		return err
	}
	defer conn.Close()
	out := make([]cancelledRun, len(runs))
	wctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	var ends sync.WaitGroup
	for i, run := range runs {
		out[i] = cancelledRun{RunID: run.RunID, End: "open"}
		wf := conn.Client.GetWorkflow(ctx, run.Workflow, "")
		drive.CancelRun(ctx, conn.Client, wf)
		ends.Go(func() { a.awaitCancelled(wctx, conn, run, wf, &out[i]) })
	}
	ends.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	open := 0
	for _, x := range out {
		if x.End == "open" && wait > 0 {
			open++
		}
		if !a.JSON {
			view.Printf(a.Out, "run %s: %s\n", x.RunID, x.says())
		}
	}
	if a.JSON {
		if err := view.WriteJSON(a.Out, out); err != nil {
			return err
		}
	}
	if open > 0 {
		return fault.Failed(fmt.Errorf("%s not ended after %s; the server keeps the request: %s", view.Count(open, "run")+haveNot(open), view.Seconds(wait), a.hint("status")))
	}
	return nil
}

func haveNot(n int) string {
	if n == 1 {
		return " has"
	}
	return " have"
}

func (x cancelledRun) says() string {
	switch {
	case x.End != "open":
		return x.End
	case x.Waits != "":
		return "asked to cancel, still open: " + x.Waits
	}
	return "asked to cancel"
}

// awaitCancelled waits for a cancelled run to end, and says from time to time what it waits
// for.
func (a *app) awaitCancelled(ctx context.Context, conn *drive.Connection, run drive.Run, wf client.WorkflowRun, out *cancelledRun) {
	done := make(chan error, 1)
	go func() { done <- drive.AwaitEnd(ctx, wf).Err }()
	for next := 2 * time.Second; ; next = a.Waits.Say {
		select {
		case err := <-done:
			var cancelled *temporal.CanceledError
			switch {
			case ctx.Err() != nil:
			case err == nil:
				out.End = "completed"
			case errors.As(err, &cancelled):
				out.End = "cancelled"
			default:
				out.End = "failed"
			}
			if out.End != "open" {
				out.Waits = ""
			}
			return
		case <-time.After(next):
			if out.Waits = a.holds(ctx, conn, run, wf); ctx.Err() == nil {
				a.say("run " + run.RunID + " is cancelling: " + out.Waits)
			}
		}
	}
}

// holds says what a run that is being cancelled waits for.
func (a *app) holds(ctx context.Context, conn *drive.Connection, run drive.Run, wf client.WorkflowRun) string {
	if why := a.Obstacle(ctx, conn, wf); why != "" {
		return why
	}
	s, err := workflows.Ask[workflows.State](ctx, conn.Client, run.Workflow, workflows.StateQuery)
	if err != nil {
		return "its state is not known"
	}
	var at []string
	for _, x := range s.Steps {
		if x.Status == workflows.Running && len(at) < stepsShown {
			at = append(at, x.Address)
		}
	}
	if len(at) == 0 {
		return "writing its record"
	}
	return view.Count(s.Counts[workflows.Running], "step") + " running: " + strings.Join(at, ", ")
}
