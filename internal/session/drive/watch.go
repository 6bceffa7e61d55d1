package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/workflows"
)

const followEvery = 300 * time.Millisecond

type Outcome struct {
	Res workflows.ReproduceResult
	Err error
}

// AwaitEnd blocks until a run ends, across losses of the connection.
func AwaitEnd(ctx context.Context, wf client.WorkflowRun) (e Outcome) {
	for {
		e = Outcome{}
		if e.Err = wf.Get(ctx, &e.Res); e.Err == nil || ctx.Err() != nil || !passing(e.Err) {
			return e
		}
		_ = readers.Pause(ctx, time.Second)
	}
}

// CancelRun requests a run's cancellation until the server has accepted it.
func CancelRun(ctx context.Context, c client.Client, wf client.WorkflowRun) {
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := c.CancelWorkflow(one, wf.GetID(), "")
		cancel()
		if err == nil || !passing(err) {
			return // accepted, or it has ended
		}
		_ = readers.Pause(ctx, time.Second)
	}
}

type Sight struct {
	State    workflows.State
	Work     map[string]Work
	WaitsFor string // what the run has been waiting for, if for a while
	Do       string // what ends that wait, if a person must do it
}

// Delays are the times to wait in silence.
type Delays struct {
	Silent time.Duration // while waiting
	Unseen time.Duration // while a run's state is unknown, or a question unanswered
	Say    time.Duration // until the next message about the same wait
	Lost   time.Duration // until a worker that is not heard of does not count
}

// UsualDelays are the delays of a command. Without a terminal it is silent for longer.
func UsualDelays(terminal bool) Delays {
	d := Delays{Silent: 15 * time.Second, Unseen: 5 * time.Second, Say: 15 * time.Second, Lost: 3 * beatEvery}
	if terminal {
		d.Silent = 2 * time.Second
	}
	return d
}

// Watch sends the state of a run now and then and, while that is unknown, says what the run waits for.
func (dr *Driver) Watch(ctx context.Context, conn *Connection, wf client.WorkflowRun, seen chan<- Sight) {
	eyes := &lookout{dr: dr, conn: conn, run: wf.GetID()}
	last, told, at, do := time.Now(), "", time.Time{}, ""
	for ctx.Err() == nil {
		v, err := eyes.sight(ctx)
		switch {
		case err == nil:
			if told != "" {
				dr.Say("continuing")
			}
			last, told = time.Now(), ""
			select {
			case seen <- v:
			case <-ctx.Done():
			}
			if v.Do != do && v.Do != "" {
				dr.Say(v.Do)
			}
			do = v.Do
		case time.Since(last) > dr.Delays.Unseen:
			dr.Log.Debug("state of the run", "err", err)
			why := dr.Obstacle(ctx, conn, wf)
			if why == "" && time.Since(last) > dr.Delays.Say {
				why = "the run's worker does not report the run's state; waiting"
			}
			if why != "" && (why != told || time.Since(at) > dr.Delays.Say) && ctx.Err() == nil {
				told, at = why, time.Now()
				dr.Say(why)
			}
		}
		_ = readers.Pause(ctx, followEvery)
	}
}

// Obstacle says why the state of a run is unknown; "" if the answer is only slow.
func (dr *Driver) Obstacle(ctx context.Context, conn *Connection, wf client.WorkflowRun) string {
	ctx, cancel := context.WithTimeout(ctx, dr.Delays.Unseen)
	defer cancel()
	d, err := conn.Client.DescribeWorkflowExecution(ctx, wf.GetID(), "")
	if err != nil {
		return fmt.Sprintf("the Temporal server does not answer (%s); waiting for the run", conn.condition())
	}
	queue := d.GetExecutionConfig().GetTaskQueue().GetName()
	of := buildOf(d.GetWorkflowExecutionInfo().GetVersioningInfo())
	polled, err := dr.Polled(ctx, conn, queue, enums.TASK_QUEUE_TYPE_WORKFLOW, of)
	if err != nil || polled {
		return ""
	}
	if of != nil {
		return fmt.Sprintf("the run needs build %s of the deployment %s, but no worker of that build polls the queue %q at %s: start one with `%s`, "+
			"or have the current build take it with `temporal workflow update-options --workflow-id %s --versioning-override-behavior auto_upgrade`; waiting",
			of.GetBuildId(), of.GetDeploymentName(), queue, conn.Host, dr.Hint("worker", "--deployment", of.GetDeploymentName()+":"+of.GetBuildId()), wf.GetID())
	}
	return fmt.Sprintf("no worker polls the queue %q at %s: start one with `%s`; waiting", queue, conn.Host, dr.StartWorker(conn))
}

// StartWorker is the command that starts a worker at a connection's server, also in a batch job, which may begin in any folder.
func (dr *Driver) StartWorker(conn *Connection, args ...string) string {
	state, store, err := dr.ForWorkers()
	if conn.Server == nil || err != nil {
		return dr.Hint("worker", args...)
	}
	args = append(args, "--state", state)
	if store != "" {
		args = append(args, "--store", store)
	}
	return dr.Hint("worker", args...)
}

// ForWorkers is where workers in any folder find the state folder and the store; store is "" if it is the state folder's own.
func (dr *Driver) ForWorkers() (state, store string, err error) {
	here, err := os.Getwd()
	state, store = open.Beside(here, dr.StateDir), open.Beside(here, dr.StoreURL)
	if open.Place(store) == open.Place(filepath.Join(state, "store")) {
		store = ""
	}
	return state, store, err
}

// buildOf is the worker deployment's version that a run is pinned to; nil: any worker may run it.
func buildOf(v *workflow.WorkflowExecutionVersioningInfo) *deployment.WorkerDeploymentVersion {
	switch {
	case v.GetVersioningOverride().GetPinned() != nil:
		return v.GetVersioningOverride().GetPinned().GetVersion()
	case v.GetVersioningOverride() == nil && v.GetBehavior() == enums.VERSIONING_BEHAVIOR_PINNED:
		return v.GetDeploymentVersion()
	}
	return nil
}

// watchedRun keeps the state of a run that is followed, since runs report only changes.
type watchedRun struct {
	execution string
	next      int
	steps     []workflows.StepState
}

// State asks a run for what has changed and returns its complete state.
func (dr *Driver) State(ctx context.Context, c client.Client, workflow string) (workflows.State, error) {
	dr.watching.Lock()
	defer dr.watching.Unlock()
	if dr.watched == nil {
		dr.watched = map[string]*watchedRun{}
	}
	w := dr.watched[workflow]
	if w == nil {
		w = &watchedRun{}
		dr.watched[workflow] = w
	}
	for {
		qctx, cancel := context.WithTimeout(ctx, dr.Delays.Unseen)
		news, err := workflows.Ask[workflows.Changes](qctx, c, workflow, workflows.ChangesQuery, w.next)
		cancel()
		if err != nil {
			return workflows.State{}, err
		}
		if news.Execution != w.execution { // the run continues in another execution, which counts anew
			looked := w.next > 0
			w.execution, w.next = news.Execution, 0
			if looked {
				continue
			}
		}
		if len(w.steps) != news.Total {
			w.steps = make([]workflows.StepState, news.Total)
		}
		for _, s := range news.Steps {
			w.steps[s.Index] = s
		}
		if w.next = news.Next; !news.More {
			return workflows.State{RunID: news.RunID, Plan: news.Plan, Restarted: news.Restarted, Steps: slices.Clone(w.steps)}, nil
		}
	}
}

// ErrDetached says that following a run has ended while the run goes on.
var ErrDetached = errors.New("detached")

// Screen shows a run that is followed. waitsFor is what the run waits for; "": nothing.
type Screen interface {
	Update(s workflows.State, work map[string]Work, waitsFor string, now time.Time)
}

// Follow shows a run until it ends, whatever happens to connection and server: the run is durable. When ctx ends, it
// cancels the run and waits for that (the next interrupt ends the process) or, with leave, returns ErrDetached.
func (dr *Driver) Follow(ctx context.Context, conn *Connection, wf client.WorkflowRun, leave bool) (*workflows.ReproduceResult, error) {
	// The run outlives ctx while it is being cancelled.
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	live, over := dr.Show()
	defer over()
	done := make(chan Outcome, 1)
	go func() { done <- AwaitEnd(wctx, wf) }()
	seen := make(chan Sight)
	go dr.Watch(wctx, conn, wf, seen)
	cancelled := ctx.Done()
	restarted := ""
	var now Sight
	at, ending := time.Now(), ""
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	show := func(v Sight) {
		if now, at = v, time.Now(); v.State.Restarted != restarted {
			restarted = v.State.Restarted
			dr.Say("the run was started again: " + restarted)
		}
		live.Update(v.State, v.Work, cmp.Or(v.WaitsFor, ending), at)
	}
	for {
		select {
		case e := <-done:
			last, cancel := context.WithTimeout(wctx, 5*time.Second)
			defer cancel()
			if s, err := dr.State(last, conn.Client, wf.GetID()); err == nil {
				show(Sight{State: s})
			}
			return &e.Res, e.Err
		case v := <-seen:
			show(v)
		case <-clock.C:
			if unseen := time.Since(at); unseen > dr.Delays.Silent {
				now.WaitsFor = "waiting for the run's state: its worker or the Temporal server is slow"
			} else if unseen < time.Second {
				continue
			}
			live.Update(now.State, now.Work, cmp.Or(now.WaitsFor, ending), time.Now())
		case <-cancelled:
			if leave {
				return nil, ErrDetached
			}
			cancelled, ending = nil, "waiting for running steps to stop"
			dr.Say("cancelling; finished results are kept (Ctrl-C again to quit at once)")
			go dr.exitOnInterrupt(wctx)
			go CancelRun(wctx, conn.Client, wf)
		}
	}
}

// exitOnInterrupt ends the process, and the programs of its steps, at the next interrupt.
func (dr *Driver) exitOnInterrupt(ctx context.Context) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	if interrupted(ctx, c) {
		if dr.Scratch != nil {
			dr.Scratch.EndPrograms()
		}
		os.Exit(fault.CodeFailed)
	}
}

// interrupted blocks until a person's next interrupt or, with false, the end of ctx. Batch systems send several signals at once, which
// count as one.
func interrupted(ctx context.Context, interrupts <-chan os.Signal) bool {
	for first := time.Now(); ; {
		select {
		case <-interrupts:
			if time.Since(first) >= time.Second {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}
