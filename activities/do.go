package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Do does steps, one after the other, each with its lease and its record. With several steps, which are short, it
// ends when all steps that could begin are done, or BatchTime after the first began; if a step takes long after all,
// it reports the others' outcomes to the run. A single step that fails is retried as its error says. If it is
// cancelled, the detail AtWork says that it had begun, which a queued one lacks.
func (a *Activities) Do(ctx context.Context, req workflows.DoRequest) ([]workflows.Outcome, error) {
	out, err := attempt(ctx, a, func(ctx context.Context) ([]workflows.Outcome, error) {
		n := failed(ctx)
		n.Store(max(n.Load(), req.Failed))
		w, err := a.newWalk(ctx, req.RunID, req.Plan, req.Steps, req.Keys)
		if err != nil {
			return nil, err
		}
		b := &batch{a: a, req: req, walk: w, out: map[int]workflows.Outcome{}}
		if err := b.do(ctx); err != nil {
			return nil, err
		}
		return b.answer(-1), nil
	})
	return out, atWork(err)
}

// batch is running work. Only its own goroutine changes it.
type batch struct {
	a    *Activities
	req  workflows.DoRequest
	walk *walk
	out  map[int]workflows.Outcome // of the steps that were begun
	told bool                      // of outcomes, since a step takes long
	said bool                      // that it has begun: by the goroutine of its step
}

func (b *batch) isSingle() bool { return len(b.req.Steps) == 1 }

// do begins steps until none is left, the time is over, or a step of a run with FailFast has failed.
func (b *batch) do(ctx context.Context) error {
	todo, err := b.advance(ctx)
	if err != nil {
		return err
	}
	end := time.Now().Add(workflows.BatchTime) // of the work: at least one step is begun, however long the look-up takes
	for len(todo) > 0 && !b.told && time.Now().Before(end) {
		x := todo[0]
		todo = todo[1:]
		done, err := b.one(ctx, x)
		if err != nil {
			return err
		}
		b.out[x.Index] = done
		if done.Status == runs.Failed && b.req.FailFast {
			return nil
		}
		if x.result == nil {
			continue
		}
		b.walk.results[x.Index] = x.result
		more, err := b.advance(ctx)
		if err != nil {
			return err
		}
		todo = append(more, todo...) // steps that follow go first: their inputs are at hand
	}
	return nil
}

// advance returns the steps that can begin, and notes the steps that this run has already done.
func (b *batch) advance(ctx context.Context) ([]*walked, error) {
	todo, err := b.walk.advance(ctx)
	for _, x := range b.walk.steps {
		if _, begun := b.out[x.Index]; !begun && err == nil && x.isOwn(b.req.RunID, b.walk.p) {
			b.out[x.Index], err = b.walk.ran(ctx, x)
		}
	}
	return todo, err
}

// one does a step. An error ends the batch: the worker or the run is to stop, or the batch has only this step.
func (b *batch) one(ctx context.Context, x *walked) (workflows.Outcome, error) {
	s := b.walk.p.Steps[x.Index]
	out := workflows.Outcome{Index: x.Index, Key: x.key, Status: runs.Waiting}
	req := workflows.ExecuteRequest{Key: x.key, Address: s.Address, RunID: b.req.RunID, Resources: s.Resources, Fresh: s.Fresh, TookS: b.req.TookS, WasBusy: b.req.WasBusy}
	report := step.Reporter(ctx)
	sctx := step.WithReporter(ctx, func(p step.Progress) {
		p.Step = s.Address
		report(p)
	})
	if b.req.FailFast {
		sctx = context.WithValue(sctx, begunKey{}, b.begun)
	}
	type ended struct {
		executed
		err error
	}
	done := make(chan ended, 1)
	go func() {
		var e ended
		e.err = stepio.Guard(func() (err error) {
			e.executed, err = b.a.executeTask(sctx, req, x.task)
			return err
		})
		done <- e
	}()
	late := time.NewTimer(workflows.LongStep)
	defer late.Stop()
	if b.isSingle() { // its run knows that it may take long; people see by the activity which step it is
		late.Stop()
		report(step.Progress{Step: s.Address})
	}
	for {
		select {
		case <-late.C:
			if err := b.tell(ctx, b.answer(x.Index)); err != nil {
				b.a.Log.Warn("the finished steps of a batch could not be reported; they will be when its slow step is done", "step", s.Address, "err", err)
			}
			b.told = true
			report(step.Progress{Step: s.Address, Note: "at work"})
		case e := <-done:
			if e.err != nil {
				return b.failed(ctx, out, e.err)
			}
			e.Outcome.Index, x.result = x.Index, e.result
			if e.NotHere != nil {
				e.Outcome.Key, e.Outcome.Failed = x.key, failed(ctx).Load()
			}
			return e.Outcome, nil
		}
	}
}

// failed turns an error of one of several steps into the outcome that a single step would have.
func (b *batch) failed(ctx context.Context, out workflows.Outcome, err error) (workflows.Outcome, error) {
	if ctx.Err() != nil || b.isSingle() {
		return out, err
	}
	var app *temporal.ApplicationError
	ctx = context.WithValue(ctx, failedKey{}, new(atomic.Int32)) // the step's tries, not the batch's
	if err = b.a.failure(ctx, err); !errors.As(err, &app) {
		return out, err
	}
	switch app.Type() {
	case workflows.InputLostError:
		out.Lost = true
	case workflows.TransientError:
		out.Failed = 1
	default:
		out.Status, out.Error, out.Type = runs.Failed, bounded(app.Message(), maxError/4), app.Type() // of hundreds
	}
	return out, nil
}

// answer returns the outcome of every step of the batch, of which working is still running; -1: none is.
func (b *batch) answer(working int) []workflows.Outcome {
	all := make([]workflows.Outcome, 0, len(b.walk.steps))
	for _, x := range b.walk.steps {
		out, begun := b.out[x.Index]
		switch {
		case begun:
		case x.Index == working:
			out = workflows.Outcome{Index: x.Index, Key: x.key, Status: runs.Running}
		default:
			if out = b.walk.outcome(x); out.Status == runs.Hit && working < 0 {
				b.a.Telemetry.Hits(b.walk.p.Steps[x.Index].Task.Kind, 1)
			}
		}
		all = append(all, out)
	}
	return all
}

// begun tells a run with FailFast, once, that it cannot take this work back.
func (b *batch) begun(ctx context.Context) {
	if b.said {
		return
	}
	b.said = true
	if err := b.tell(ctx, nil); err != nil {
		b.a.Log.Warn("the run could not be told that its work has begun; if another step fails it takes that back", "err", err)
	}
}

// tell signals the run that work has begun, and the outcomes of a batch so far.
func (b *batch) tell(ctx context.Context, steps []workflows.Outcome) error {
	if b.a.Client == nil || !activity.IsActivity(ctx) {
		return nil
	}
	w := activity.GetInfo(ctx).WorkflowExecution
	return b.a.Client.SignalWorkflow(ctx, w.ID, w.RunID, workflows.SettledSignal, workflows.Settled{Number: b.req.Number, Steps: steps})
}
