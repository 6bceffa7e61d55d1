package workflows

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
)

// partsInFlight bounds the parts of one step that are queued at a time; the
// workers' slots bound how many run.
const partsInFlight = 64

// silence is how long an activity may go without a heartbeat before the server
// takes its worker for lost: with the first interval of retries and the way to
// another worker, a lost attempt of any activity costs less than 20 seconds.
const silence = 15 * time.Second

// attemptsMost bounds the attempts of an activity.
const attemptsMost = 200

// retries is the policy of every activity. Its attempts are those that may be lost
// with their workers, or each time that a laptop sleeps, and the next one follows at once,
// however many were: with intervals that grow, workers that are lost at regular times
// could meet every attempt. How often an error is worth a retry, and after which time, is for the
// activity to say, which ends with PermanentError then.
func retries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1,
		MaximumAttempts: attemptsMost, NonRetryableErrorTypes: []string{PermanentError, InputLostError, SourceChangedError}}
}

// doing are the options of an activity: for how long it may work, which is a bound
// on what hangs and no estimate, and how the UI names it.
func doing(queue, summary string, most time.Duration) workflow.ActivityOptions {
	return workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: most, HeartbeatTimeout: silence,
		WaitForCancellation: true, RetryPolicy: retries(), Summary: Short(summary)}
}

// unbounded is for work whose length nobody knows.
const unbounded = 30 * 24 * time.Hour

// Short is a text that the server takes as a summary: it refuses the whole command
// if that is longer than 400 bytes.
func Short(text string) string {
	return cut(strings.ToValidUTF8(text, "\uFFFD"), 200)
}

// cut is the beginning of a text of more bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// queueName maps a step's queue to a task queue.
func queueName(ctx workflow.Context, queue string) string {
	if queue == "gpu" {
		return GPUTaskQueue
	}
	return workflow.GetInfo(ctx).TaskQueueName
}

func controlQueue(ctx workflow.Context) string {
	return ControlQueue(workflow.GetInfo(ctx).TaskQueueName)
}

// execute runs one task as an activity. There is no bound on how long work may
// take, only on how long a worker may be silent.
// Where a run that shares only the store does the same work, this one waits for it,
// in a slot that takes none from work.
func execute(ctx workflow.Context, label, queue string, req ExecuteRequest) (Executed, error) {
	actx := workflow.WithActivityOptions(ctx, doing(queueName(ctx, queue), label, unbounded))
	for {
		var out Executed
		err := cancelledWithWorker(ctx, workflow.ExecuteActivity(actx, ExecuteActivity, req).Get(ctx, &out), AtWork)
		if err != nil || !out.Busy && out.Unfit == "" {
			return out, err
		}
		why := "another step or run is working on it"
		if out.Unfit != "" {
			if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
				return out, errLong
			}
			why = "left to another worker"
		}
		req.Unfit = out.Unfit
		tctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), label+" · "+why, unbounded))
		if err := cancelledWithWorker(ctx, workflow.ExecuteActivity(tctx, TurnActivity, req).Get(ctx, nil)); err != nil {
			return out, err
		}
		req.Again, req.Unfit, req.Failed = out.Busy, "", out.Failed
	}
}

// Step does one piece of work. Runs that want the same key share it: the one
// that started it is a member, others join, and when the last one has left the
// work is cancelled.
func Step(ctx workflow.Context, in StepInput) (Executed, error) {
	if in.Features.SearchAttributes {
		if err := workflow.UpsertTypedSearchAttributes(ctx,
			stepAttribute.ValueSet(searchable(in.Address)), keyAttribute.ValueSet(in.Key.Hex())); err != nil {
			return Executed{}, err
		}
	}
	made := describing(ctx, DescribeRequest{Kind: in.Kind, Task: in.Task})
	describeStep(ctx, in, made, "at work")
	wctx, cancel := workflow.WithCancel(ctx)
	members := map[string]bool{}
	for _, m := range in.Members {
		members[m] = true
	}
	if len(in.Members) == 0 {
		members[in.RunID] = true
	}
	workflow.Go(ctx, func(ctx workflow.Context) { membership(ctx, members, cancel) })

	out, err := stepWork(wctx, in)
	if errors.Is(err, errLong) {
		joins, leaves := workflow.GetSignalChannel(ctx, joinSignal), workflow.GetSignalChannel(ctx, leaveSignal)
		_ = workflow.Await(ctx, func() bool { return joins.Len()+leaves.Len() == 0 }) // the next execution does not hear these
		if err = wctx.Err(); err == nil {
			in.Members, in.Failed = sortedKeys(members), max(in.Failed, out.Failed)
			return Executed{}, workflow.NewContinueAsNewError(ctx, StepWorkflow, in)
		}
	}
	outcome := runs.Ran
	switch {
	case err != nil:
		outcome = runs.Failed
	case out.Hit:
		outcome = runs.Hit
	}
	if in.Features.SearchAttributes && (err == nil || ctx.Err() == nil && wctx.Err() == nil) {
		if uerr := workflow.UpsertTypedSearchAttributes(ctx, outcomeAttribute.ValueSet(string(outcome))); err == nil {
			err = uerr
		}
	}
	if err != nil {
		describeStep(ctx, in, made, string(outcome)+": "+Code(reason(err), shortText))
	} else {
		describeStep(ctx, in, describing(ctx, DescribeRequest{Kind: in.Kind, Key: out.Key})+made, string(outcome))
	}
	return out, err
}

// membership hears of runs that join and leave. Nobody promises that a join arrives before the leave
// of the same run: a run that has left does not come back.
func membership(ctx workflow.Context, members map[string]bool, cancel func()) {
	left := map[string]bool{}
	sel := workflow.NewSelector(ctx)
	sel.AddReceive(workflow.GetSignalChannel(ctx, joinSignal), func(c workflow.ReceiveChannel, _ bool) {
		var run string
		c.Receive(ctx, &run)
		if !left[run] {
			members[run] = true
		}
	})
	sel.AddReceive(workflow.GetSignalChannel(ctx, leaveSignal), func(c workflow.ReceiveChannel, _ bool) {
		var l leaving
		c.Receive(ctx, &l)
		delete(members, l.Run)
		left[l.Run] = true
		if len(members) == 0 {
			cancel()
			return
		}
		id := workflow.GetInfo(ctx).WorkflowExecution.ID
		workflow.SignalExternalWorkflow(ctx, l.Workflow, "", staysSignal, id) // the run may be gone: no matter
	})
	for ctx.Err() == nil {
		sel.Select(ctx)
	}
}

func stepWork(ctx workflow.Context, in StepInput) (Executed, error) {
	req := ExecuteRequest{Key: in.Key, Task: in.Task, Address: in.Address, RunID: in.RunID, TookS: in.TookS, Resources: in.Resources, Failed: in.Failed}
	if in.Splits {
		req.TookS = nil // which is the time of the parts
		parts, err := runParts(ctx, in)
		if err != nil {
			return Executed{}, err
		}
		if req.Parts, err = stash(ctx, parts); err != nil {
			return Executed{}, err
		}
	}
	return execute(ctx, in.Address, in.Queue, req)
}

// errLong says that a step has so many parts that another execution must continue:
// it cuts the step again and finds what is done.
var errLong = errors.New("the history is long")

// runParts cuts the step and runs the parts that have no result, each under its
// own key, and returns the keys in the order of the cut.
func runParts(ctx workflow.Context, in StepInput) ([]artifacts.Digest, error) {
	sctx := workflow.WithActivityOptions(ctx, doing("", in.Address+" · cut into parts", unbounded))
	var split Pages[Part]
	req := ExecuteRequest{Key: in.Key, Task: in.Task, Address: in.Address, RunID: in.RunID}
	if err := workflow.ExecuteActivity(sctx, SplitActivity, req).Get(ctx, &split); err != nil {
		return nil, err
	}
	parts, err := unstash(ctx, split)
	if err != nil {
		return nil, err
	}
	keys := make([]artifacts.Digest, len(parts))
	slots := workflow.NewSemaphore(ctx, partsInFlight)
	wg := workflow.NewWaitGroup(ctx)
	var failures []error
	started := 0
	for i, p := range parts {
		keys[i] = p.Key
		if p.Hit {
			continue
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && started >= partsInFlight {
			failures = append(failures, errLong)
			break
		}
		started++
		takes := int64(1)
		if p.Alone {
			takes = partsInFlight
		}
		if err := slots.Acquire(ctx, takes); err != nil {
			failures = append(failures, err)
		}
		if len(failures) > 0 { // the step has failed: it starts nothing more
			break
		}
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			defer slots.Release(takes)
			label := in.Address + " · " + p.Label
			done, err := execute(ctx, label, in.Queue, ExecuteRequest{Key: p.Key, Task: p.Task, Address: label, RunID: in.RunID, Whole: in.Key, Resources: in.Resources})
			if err != nil {
				failures = append(failures, err)
				return
			}
			keys[i] = done.Key
		})
	}
	wg.Wait(ctx)
	var failed error
	for _, err := range failures {
		if failed == nil || errors.Is(failed, errLong) || temporal.IsCanceledError(failed) && begun(err) { // of cancelled parts, one that was running
			failed = err
		}
	}
	if failed != nil {
		return nil, failed
	}
	return keys, nil
}

// shared runs a step as a child workflow, or, where another run is already at
// it, joins that one and waits. The child outlives this run if others want it.
func (r *run) shared(ctx workflow.Context, place func() int, in StepInput) (Executed, error) {
	id := StepWorkflowID(in.Key)
	for tries := 1; ; {
		dctx, stop := workflow.NewDisconnectedContext(ctx)
		cctx := workflow.WithChildOptions(dctx, workflow.ChildWorkflowOptions{
			WorkflowID:          id,
			ParentClosePolicy:   parentAbandon,
			WorkflowTaskTimeout: TaskTimeout,
			StaticSummary:       searchable(in.Address),
			StaticDetails:       StartDetails([]Fact{{"step", in.Address}, {"kind", in.Kind}, {"key", in.Key.Hex()}, {"started by run", in.RunID}}),
		})
		r.members[id] = true
		child := workflow.ExecuteChildWorkflow(cctx, StepWorkflow, in)
		err := child.GetChildWorkflowExecution().Get(dctx, nil)
		var out Executed
		if err == nil {
			if ctx.Err() != nil { // it had not started when the run left
				r.part(dctx, id)
			}
			err = child.Get(dctx, &out)
			delete(r.members, id)
			stop()
			if errorType(err) == OtherVersionError && tries < healTries && ctx.Err() == nil {
				tries++
				continue
			}
			return out, err
		}
		if _, started := errors.AsType[*temporal.ChildWorkflowExecutionAlreadyStartedError](err); !started {
			stop()
			return Executed{}, err
		}
		if ctx.Err() != nil { // the run has left, and told only what it knew of
			delete(r.members, id)
			stop()
			return Executed{}, ctx.Err()
		}
		i := place()
		if i >= 0 {
			r.steps[i].Shared = !r.mine[i]
			r.touch(i)
		}
		done, again, err := r.join(ctx, dctx, id, in, r.mine[i])
		delete(r.members, id)
		stop()
		if !again {
			return done, err
		}
	}
}

// join waits for a Step workflow that another run started; again is true if it
// ended without a result that counts for this run: it was cancelled, or another
// version of redsi had begun it. Mine is
// a workflow that an execution of this run before has started.
func (r *run) join(ctx, dctx workflow.Context, id string, in StepInput, mine bool) (done Executed, again bool, err error) {
	if err := workflow.SignalExternalWorkflow(dctx, id, "", joinSignal, in.RunID).Get(dctx, nil); err != nil {
		return Executed{}, ctx.Err() == nil, ctx.Err() // it ended in between: look again
	}
	if ctx.Err() != nil { // the run may have left before it had joined
		r.part(dctx, id)
		return Executed{}, false, ctx.Err()
	}
	options := doing(controlQueue(ctx), in.Address+" · shared with another step or run", unbounded)
	options.WaitForCancellation = false
	actx := workflow.WithActivityOptions(ctx, options)
	err = workflow.ExecuteActivity(actx, AwaitActivity, id).Get(ctx, &done)
	if err == nil {
		done.Hit = done.Hit || !mine
		return done, false, nil
	}
	if ctx.Err() == nil && errorType(err) == AwaitCancelled {
		return Executed{}, true, nil
	}
	return Executed{}, false, err
}

// part tells a Step workflow that this run no longer wants it.
func (r *run) part(ctx workflow.Context, id string) workflow.Future {
	return workflow.SignalExternalWorkflow(ctx, id, "", leaveSignal, leaving{Run: r.id, Workflow: workflow.GetInfo(ctx).WorkflowExecution.ID})
}

// leave tells every Step workflow that this run no longer wants it, and waits a
// while for those that end because of it.
func (r *run) leave(ctx workflow.Context) error {
	dctx, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	workflow.Go(dctx, func(ctx workflow.Context) {
		for ctx.Err() == nil {
			var id string
			workflow.GetSignalChannel(ctx, staysSignal).Receive(ctx, &id)
			r.stays[id] = true
		}
	})
	var told []workflow.Future // all at once, so that no queued step begins where one before it has just ended
	for _, id := range sortedKeys(r.members) {
		told = append(told, r.part(dctx, id))
	}
	for _, f := range told {
		_ = f.Get(dctx, nil) // gone already is fine
	}
	_, _ = workflow.AwaitWithTimeout(dctx, leaveGrace, func() bool { return r.flying <= len(r.stays) })
	return ctx.Err()
}
