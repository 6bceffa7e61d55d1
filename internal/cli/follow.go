package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/workflows"
)

// followEvery is how often a run's state is asked for.
const followEvery = 300 * time.Millisecond

// follow shows a run until it ends. The run is durable, so follow waits whatever happens to
// the connection or the server. When ctx ends it cancels the run and waits for that (the
// caller's second interrupt kills the process) or, with leave, leaves the run alone and
// returns errDetached.
func (a *app) follow(ctx context.Context, conn *connection, wf client.WorkflowRun, leave bool) (*workflows.ReproduceResult, error) {
	// The run outlives ctx while it is being cancelled.
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	said := make(chan string, 100)
	a.sayer.through(func(text string) {
		select {
		case said <- text:
		default: // too many lines to read at once
		}
	})
	defer a.sayer.through(nil)

	live := view.NewLive(a.Err, a.style(a.Err), terminal(a.Err))
	defer live.Close()
	done := make(chan outcome, 1)
	go func() { done <- awaitEnd(wctx, wf) }()
	seen := make(chan sight)
	eyes := &lookout{a: a, conn: conn, run: wf.GetID()}
	go a.watch(wctx, eyes, wf, seen)
	cancelled := ctx.Done()
	again := ""
	var now sight
	at, ending := time.Now(), ""
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	show := func(v sight) {
		if now, at = v, time.Now(); v.state.Again != again {
			again = v.state.Again
			live.Say("the run was started again: " + again)
		}
		live.Update(v.state, v.work, cmp.Or(v.waits, ending), at)
	}
	for {
		select {
		case e := <-done:
			last, cancel := context.WithTimeout(wctx, 5*time.Second)
			defer cancel()
			if s, err := a.state(last, conn.Client, wf.GetID()); err == nil {
				show(sight{state: s})
			}
			return &e.res, e.err
		case v := <-seen:
			show(v)
		case <-clock.C:
			if unseen := time.Since(at); unseen > a.patience() {
				now.waits = "waiting for the run's state: its worker or the Temporal server is slow"
			} else if unseen < time.Second {
				continue
			}
			live.Update(now.state, now.work, cmp.Or(now.waits, ending), time.Now())
		case text := <-said:
			live.Say(text)
		case <-cancelled:
			if leave {
				return nil, errDetached
			}
			cancelled, ending = nil, "waiting for running steps to stop"
			live.Say("cancelling; finished results are kept (Ctrl-C again to quit at once)")
			go a.exitOnInterrupt(wctx)
			go cancelRun(wctx, conn.Client, wf)
		}
	}
}

type outcome struct {
	res workflows.ReproduceResult
	err error
}

// awaitEnd waits for the end of a run, across losses of the connection.
func awaitEnd(ctx context.Context, wf client.WorkflowRun) (e outcome) {
	for {
		e = outcome{}
		if e.err = wf.Get(ctx, &e.res); e.err == nil || ctx.Err() != nil || !passing(e.err) {
			return e
		}
		pause(ctx, time.Second)
	}
}

// cancelRun requests a run's cancellation until the server has accepted it.
func cancelRun(ctx context.Context, c client.Client, wf client.WorkflowRun) {
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := c.CancelWorkflow(one, wf.GetID(), "")
		cancel()
		if err == nil || !passing(err) {
			return // accepted, or it has ended
		}
		pause(ctx, time.Second)
	}
}

// sight is a snapshot of a run.
type sight struct {
	state workflows.State
	work  map[string]view.Work
	waits string // what the run has been waiting for, if for a while
}

// waits are the times to wait in silence.
type waits struct {
	silent time.Duration // while waiting, on a terminal
	unseen time.Duration // while a run's state is unknown, or a question unanswered
	say    time.Duration // until the next message about what it waits for
}

func usualWaits() waits {
	return waits{silent: 2 * time.Second, unseen: 5 * time.Second, say: 15 * time.Second}
}

// watch sends the state of a run now and then. When that has been unknown for a while it says
// what it waits for, and repeats that from time to time.
func (a *app) watch(ctx context.Context, eyes *lookout, wf client.WorkflowRun, seen chan<- sight) {
	last, told, at := time.Now(), "", time.Time{}
	for ctx.Err() == nil {
		v, err := eyes.sight(ctx)
		switch {
		case err == nil:
			if told != "" {
				a.say("continuing")
			}
			last, told = time.Now(), ""
			select {
			case seen <- v:
			case <-ctx.Done():
			}
		case time.Since(last) > a.waits.unseen:
			a.Log.Debug("state of the run", "err", err)
			why := a.obstacle(ctx, eyes.conn, wf)
			if why == "" && time.Since(last) > a.waits.say {
				why = "the run's worker does not report the run's state; waiting"
			}
			if why != "" && (why != told || time.Since(at) > a.waits.say) && ctx.Err() == nil {
				told, at = why, time.Now()
				a.say(why)
			}
		}
		pause(ctx, followEvery)
	}
}

// obstacle says why the state of a run is unknown; "" if the answer is only slow.
func (a *app) obstacle(ctx context.Context, conn *connection, wf client.WorkflowRun) string {
	ctx, cancel := context.WithTimeout(ctx, a.waits.unseen)
	defer cancel()
	d, err := conn.Client.DescribeWorkflowExecution(ctx, wf.GetID(), "")
	if err != nil {
		return fmt.Sprintf("the Temporal server does not answer (%s); waiting for the run", conn.condition())
	}
	queue := d.GetExecutionConfig().GetTaskQueue().GetName()
	of := buildOf(d.GetWorkflowExecutionInfo().GetVersioningInfo())
	polled, err := polled(ctx, conn.Client, queue, enums.TASK_QUEUE_TYPE_WORKFLOW, of)
	if err != nil || polled {
		return ""
	}
	if of != nil {
		return fmt.Sprintf("the run needs build %s of the deployment %s, but no worker of that build polls the queue %q at %s: start one with `%s`, "+
			"or have the current build take it with `temporal workflow update-options --workflow-id %s --versioning-override-behavior auto_upgrade`; waiting",
			of.GetBuildId(), of.GetDeploymentName(), queue, conn.host, a.hint("worker", "--deployment", of.GetDeploymentName()+":"+of.GetBuildId()), wf.GetID())
	}
	return fmt.Sprintf("no worker polls the queue %q at %s: start one with `%s`; waiting", queue, conn.host, a.hint("worker"))
}

// buildOf is the version of a worker deployment that a run is pinned to; nil: any worker may
// run it.
func buildOf(v *workflow.WorkflowExecutionVersioningInfo) *deployment.WorkerDeploymentVersion {
	switch {
	case v.GetVersioningOverride().GetPinned() != nil:
		return v.GetVersioningOverride().GetPinned().GetVersion()
	case v.GetVersioningOverride() == nil && v.GetBehavior() == enums.VERSIONING_BEHAVIOR_PINNED:
		return v.GetDeploymentVersion()
	}
	return nil
}
