package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/step"
	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/workflows"
)

// followEvery is how often a run's state is asked for.
const followEvery = 300 * time.Millisecond

// progressAsked bounds how many running steps are asked for their progress.
const progressAsked = 8

// follow shows a run until it ends. When ctx ends it cancels the run and waits
// for that; the caller's second interrupt kills the process.
func (a *app) follow(ctx context.Context, c client.Client, wf client.WorkflowRun) (*workflows.ReproduceResult, error) {
	type ended struct {
		res workflows.ReproduceResult
		err error
	}
	// The run outlives ctx by the time that its cancellation takes.
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	done := make(chan ended, 1)
	go func() {
		var e ended
		e.err = wf.Get(wctx, &e.res)
		done <- e
	}()
	live := view.NewLive(a.Err, a.style(a.Err), terminal(a.Err))
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	cancelled := ctx.Done()
	for {
		select {
		case e := <-done:
			a.show(wctx, c, wf, live)
			live.Close()
			return &e.res, e.err
		case <-cancelled:
			cancelled = nil
			view.Println(a.Err, "cancelling; what is finished stays (Ctrl-C again to leave at once)")
			go a.exitOnInterrupt(wctx)
			if err := c.CancelWorkflow(wctx, wf.GetID(), ""); err != nil {
				return nil, fmt.Errorf("cancel the run: %w", err)
			}
		case <-tick.C:
			a.show(wctx, c, wf, live)
		}
	}
}

// show asks for the state once; a state that cannot be had now comes later.
func (a *app) show(ctx context.Context, c client.Client, wf client.WorkflowRun, live *view.Live) {
	qctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	v, err := c.QueryWorkflow(qctx, wf.GetID(), "", workflows.StateQuery)
	if err != nil {
		var failed *serviceerror.QueryFailed
		if !errors.As(err, &failed) {
			a.Log.Debug("state of the run", "err", err)
		}
		return
	}
	var s workflows.State
	if err := v.Get(&s); err != nil {
		a.Log.Debug("state of the run", "err", err)
		return
	}
	live.Update(s, a.progress(qctx, c, s), time.Now())
}

// progress reads the heartbeats of running steps.
func (a *app) progress(ctx context.Context, c client.Client, s workflows.State) map[string]step.Progress {
	out := map[string]step.Progress{}
	asked := 0
	for _, x := range s.Steps {
		if x.Status != workflows.Running || x.Workflow == "" || asked == progressAsked {
			continue
		}
		asked++
		d, err := c.DescribeWorkflowExecution(ctx, x.Workflow, "")
		if err != nil {
			continue // it may just have ended
		}
		var sum step.Progress
		failure := ""
		for _, p := range d.PendingActivities {
			var one step.Progress
			if ps := p.GetHeartbeatDetails().GetPayloads(); len(ps) > 0 && json.Unmarshal(ps[0].Data, &one) == nil {
				sum.Done += one.Done
				sum.Total += one.Total
				sum.Unit, sum.Note, sum.LeftS = one.Unit, one.Note, one.LeftS
			}
			if f := p.GetLastFailure(); f != nil {
				failure = fmt.Sprintf("attempt %d, after: %s", p.GetAttempt(), f.GetMessage())
			}
		}
		if n := len(d.PendingActivities); n > 1 {
			sum.Note, sum.LeftS = fmt.Sprintf("%d parts in flight", n), 0
		}
		if failure != "" {
			sum.Note = failure
		}
		out[x.Address] = sum
	}
	return out
}
