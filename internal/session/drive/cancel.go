package drive

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

// CancelledRun is what happened to a run that was to be cancelled.
type CancelledRun struct {
	RunID string `json:"run"`
	End   string `json:"end"` // "cancelled", "completed", "failed", or Open: asked, not ended yet
	Waits string `json:"waits_for,omitempty"`
}

// Open is the end of a run that has not ended.
const Open = "open"

// Cancel cancels the named runs, or all without names, and waits so long for them to end.
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

// holdersNamed bounds the steps that a cancelled run is said to wait for.
const holdersNamed = 5

// awaitCancelled waits for a cancelled run to end, and says from time to time what it waits
// for.
func (dr *Driver) awaitCancelled(ctx context.Context, conn *Connection, run Run, wf client.WorkflowRun, out *CancelledRun) {
	done := make(chan error, 1)
	go func() { done <- AwaitEnd(ctx, wf).Err }()
	for next := 2 * time.Second; ; next = dr.Waits.Say {
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
				out.Waits = ""
			}
			return
		case <-time.After(next):
			if out.Waits = dr.holds(ctx, conn, run, wf); ctx.Err() == nil {
				dr.Say("run " + run.RunID + " is cancelling: " + out.Waits)
			}
		}
	}
}

// holds says what a run that is being cancelled waits for.
func (dr *Driver) holds(ctx context.Context, conn *Connection, run Run, wf client.WorkflowRun) string {
	if why := dr.Obstacle(ctx, conn, wf); why != "" {
		return why
	}
	s, err := workflows.Ask[workflows.State](ctx, conn.Client, run.Workflow, workflows.StateQuery)
	if err != nil {
		return "its state is not known"
	}
	var at []string
	for _, x := range s.Steps {
		if x.Status == workflows.Running && len(at) < holdersNamed {
			at = append(at, x.Address)
		}
	}
	if len(at) == 0 {
		return "writing its record"
	}
	return words.Count(s.Counts[workflows.Running], "step") + " running: " + strings.Join(at, ", ")
}
