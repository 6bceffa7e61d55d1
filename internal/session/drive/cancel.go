package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

type CancelledRun struct {
	RunID    string `json:"run"`
	End      string `json:"end"` // "cancelled", "completed", "failed", or Open: asked, not ended yet
	WaitsFor string `json:"waits_for,omitempty"`
}

// Open is the end of a run that has not ended.
const Open = "open"

// Cancel cancels the named runs, or without names all, and waits at most this long for their ends.
func (dr *Driver) Cancel(ctx context.Context, o Cluster, names []string, wait time.Duration) ([]CancelledRun, error) {
	conn, runs, err := dr.OpenRunsNamed(ctx, o, names)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	out := make([]CancelledRun, len(runs))
	wctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	var ends sync.WaitGroup
	for i, run := range runs {
		out[i] = CancelledRun{RunID: run.RunID, End: Open}
		wf := conn.Client.GetWorkflow(ctx, run.Workflow, "")
		CancelRun(ctx, conn.Client, wf)
		ends.Go(func() { dr.awaitCancelled(wctx, conn, run, wf, &out[i]) })
	}
	ends.Wait()
	return out, ctx.Err()
}

// CancelSteps cancels an open run's steps, by addresses or blocks, and what needs them; it returns the steps that had not ended.
func (dr *Driver) CancelSteps(ctx context.Context, o Cluster, name string, targets []string) (runID string, cancelled []string, err error) {
	conn, open, err := dr.OpenRunsNamed(ctx, o, []string{name})
	if err != nil {
		return "", nil, err
	}
	defer conn.Close()
	for _, target := range targets {
		u, err := conn.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: open[0].Workflow, UpdateName: workflows.CancelStepsUpdate,
			Args: []any{target}, WaitForStage: client.WorkflowUpdateStageCompleted})
		var steps []string
		if err == nil {
			err = u.Get(ctx, &steps)
		}
		if refused, ok := errors.AsType[*temporal.ApplicationError](err); ok {
			err = fault.Input(errors.New(refused.Message()))
		}
		if err != nil {
			return open[0].RunID, cancelled, err
		}
		cancelled = append(cancelled, steps...)
	}
	return open[0].RunID, cancelled, nil
}

const holdersNamed = 5

// awaitCancelled blocks until a cancelled run ends, and says now and then what the run waits for.
func (dr *Driver) awaitCancelled(ctx context.Context, conn *Connection, run Run, wf client.WorkflowRun, out *CancelledRun) {
	done := make(chan error, 1)
	go func() { done <- AwaitEnd(ctx, wf).Err }()
	for next := 2 * time.Second; ; next = dr.Delays.Say {
		select {
		case err := <-done:
			switch {
			case ctx.Err() != nil:
			case err == nil:
				out.End = "completed"
			case temporal.IsCanceledError(err):
				out.End = "cancelled"
			default:
				out.End = "failed"
			}
			if out.End != Open {
				out.WaitsFor = ""
			}
			return
		case <-time.After(next):
			if out.WaitsFor = dr.holds(ctx, conn, run, wf); ctx.Err() == nil {
				dr.Say("run " + run.RunID + " is cancelling: " + out.WaitsFor)
			}
		}
	}
}

func (dr *Driver) holds(ctx context.Context, conn *Connection, run Run, wf client.WorkflowRun) string {
	if why := dr.Obstacle(ctx, conn, wf); why != "" {
		return why
	}
	s, err := workflows.Ask[workflows.State](ctx, conn.Client, run.Workflow, workflows.StateQuery)
	if err != nil {
		return "its state is not known"
	}
	running := lists.Filter(s.Steps, func(x workflows.StepState) bool { return x.Status == runs.Running })
	if len(running) == 0 {
		return "writing its record"
	}
	at := lists.Map(running[:min(len(running), holdersNamed)], func(x workflows.StepState) string { return x.Address })
	return words.Count(s.Counts[runs.Running], "step") + " running: " + strings.Join(at, ", ")
}

// OpenRunsNamed connects and finds open runs by beginnings of ids ("", "last": the newest) or all. Without an error, the caller closes
// the connection.
func (dr *Driver) OpenRunsNamed(ctx context.Context, o Cluster, names []string) (*Connection, []Run, error) {
	var where Report
	conn, err := dr.Running(ctx, o, &where)
	if err != nil {
		return nil, nil, err
	}
	if conn != nil {
		var found []Run
		if found, names, err = dr.pick(ctx, conn, names); err == nil && len(found) > 0 {
			return conn, found, nil
		}
		conn.Close()
	}
	if err == nil {
		err = dr.noneOpen(ctx, where, names)
	}
	return nil, nil, err
}

// pick finds open runs: all that are named or, if some do not exist, only their names.
func (dr *Driver) pick(ctx context.Context, conn *Connection, names []string) (runs []Run, missing []string, err error) {
	open, err := ListOpen(ctx, conn.Client)
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
			if w, err = dr.Named(ctx, conn, open, name); err != nil || w == nil {
				return nil, []string{name}, err
			}
		}
		chosen = append(chosen, w)
	}
	for _, w := range chosen {
		run := openRun(conn, w)
		run.name(RunOf(run.Workflow))
		runs = append(runs, run)
	}
	return runs, nil, nil
}

// RunOf is the id of a workflow's run; the workflow's own if redsi did not start it.
func RunOf(workflow string) string {
	return strings.TrimPrefix(workflow, workflows.ReproduceWorkflowID(""))
}

// noneOpen says why no open run has one of these names: the run has ended, or never existed.
func (dr *Driver) noneOpen(ctx context.Context, asked Report, names []string) error {
	where := cmp.Or(asked.Elsewhere, "no server is running for "+dr.StateDir)
	if asked.Server != "" {
		where = "at " + asked.Server
	}
	for _, name := range names {
		if name == "" || name == "last" {
			continue
		}
		store, err := dr.OpenOwn(ctx)
		if err != nil {
			return err
		}
		rec, err := dr.FindRun(ctx, store.Own, name)
		if fault.IsInput(err) {
			return fault.Input(fmt.Errorf("no open run has an id that begins with %q (%s), and %w; %s lists the open ones", name, where, err, dr.Hint("status")))
		}
		if err != nil {
			return err
		}
		return fault.Input(fmt.Errorf("run %s has ended: %s; %s", rec.RunID, Tally(rec.Counts), dr.Hint("status", "--run", rec.RunID)))
	}
	return fault.Input(errors.New("no run is open (" + where + ")"))
}
