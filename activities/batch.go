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

// Batch does short steps one after the other, each as Execute does: with its lease, its
// record, its cache. It ends when all that could begin is done, or BatchTime after the first began;
// when one takes long after all, it reports the others' outcomes to the run.
func (a *Activities) Batch(ctx context.Context, req workflows.BatchRequest) ([]workflows.Batched, error) {
	w, err := a.newWalk(ctx, req.Plan, req.Steps, req.Keys)
	if err != nil {
		return nil, err
	}
	b := &batch{a: a, req: req, walk: w, out: map[int]workflows.Batched{}}
	if err := b.do(ctx); err != nil {
		return nil, err
	}
	return b.answer(-1), nil
}

// batch is a running batch. Only its own goroutine changes it.
type batch struct {
	a    *Activities
	req  workflows.BatchRequest
	walk *walk
	out  map[int]workflows.Batched // of those that were begun
	told bool
}

// do begins steps until there are none left, the time is over, or one has failed and
// that is to be the end.
func (b *batch) do(ctx context.Context) error {
	todo, err := b.advance(ctx)
	if err != nil {
		return err
	}
	end := time.Now().Add(workflows.BatchTime) // of the work: one step at least is begun, however long the look-up takes
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
		todo = append(more, todo...) // what follows first: its inputs are at hand
	}
	return nil
}

// advance returns the steps that can begin, and notes those that this run has done
// already.
func (b *batch) advance(ctx context.Context) ([]*walked, error) {
	todo, err := b.walk.advance(ctx)
	for _, x := range b.walk.steps {
		if _, begun := b.out[x.Index]; begun || err != nil || !x.of(b.req.RunID, b.walk.p) {
			continue
		}
		out := workflows.Batched{Index: x.Index, Status: runs.Ran, TookS: x.result.Took.Seconds()}
		out.Key, out.Pins, err = b.a.filePinned(ctx, b.a.Registry.Lookup(x.task.Kind), x.task, *x.result)
		b.out[x.Index] = out
	}
	return todo, err
}

// one does a step. An error ends the batch: the worker is to stop, or the run.
func (b *batch) one(ctx context.Context, x *walked) (workflows.Batched, error) {
	s := b.walk.p.Steps[x.Index]
	out := workflows.Batched{Index: x.Index, Key: x.key, Status: runs.Waiting}
	req := workflows.ExecuteRequest{Key: x.key, Address: s.Address, RunID: b.req.RunID, Resources: s.Resources}
	report := step.Reporter(ctx)
	sctx := step.WithReporter(ctx, func(p step.Progress) {
		p.Step = s.Address
		report(p)
	})
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
	for {
		select {
		case <-late.C:
			if err := b.tell(ctx, x.Index); err != nil {
				b.a.Log.Warn("the finished steps of a batch could not be reported; they will be when its slow step is done", "step", s.Address, "err", err)
			}
			b.told = true
			report(step.Progress{Step: s.Address, Note: "at work"})
		case e := <-done:
			if e.err == nil && (e.Busy || e.Unfit != "") {
				out.Alone = true
				return out, nil
			}
			if e.err == nil {
				x.result = e.result
				out.Status, out.Key, out.TookS, out.Pins = runs.Ran, e.Key, e.TookS, e.Pins
				if e.Hit {
					out.Status = runs.Hit
				}
				return out, nil
			}
			return b.failed(ctx, out, e.err)
		}
	}
}

// failed gives a step's error the outcome that it would have in a workflow of its own.
func (b *batch) failed(ctx context.Context, out workflows.Batched, err error) (workflows.Batched, error) {
	if ctx.Err() != nil {
		return out, err
	}
	var app *temporal.ApplicationError
	ctx = context.WithValue(ctx, failedKey{}, new(atomic.Int32)) // the step's tries, not those of the batch
	if err = b.a.failure(ctx, err); !errors.As(err, &app) {
		return out, err
	}
	switch app.Type() {
	case workflows.InputLostError:
		out.Lost = true
	case workflows.TransientError:
		out.Alone, out.Failed = true, 1
	default:
		out.Status, out.Error, out.Type = runs.Failed, bounded(app.Message(), maxError/4), app.Type() // of hundreds
	}
	return out, nil
}

// answer has the outcome of every step of the batch; one is still running.
func (b *batch) answer(working int) []workflows.Batched {
	all := make([]workflows.Batched, 0, len(b.walk.steps))
	for _, x := range b.walk.steps {
		out, begun := b.out[x.Index]
		switch {
		case begun:
		case x.Index == working:
			out = workflows.Batched{Index: x.Index, Key: x.key, Status: runs.Running}
		case x.wrong != "":
			out = workflows.Batched{Index: x.Index, Status: runs.Failed, Error: x.wrong, Type: workflows.PermanentError}
		case x.result != nil:
			out = workflows.Batched{Index: x.Index, Key: x.key, Status: runs.Hit, TookS: x.result.Took.Seconds()}
			if working < 0 {
				b.a.Telemetry.Hits(b.walk.p.Steps[x.Index].Task.Kind, 1)
			}
		default:
			out = workflows.Batched{Index: x.Index, Key: x.key, Status: runs.Waiting, Lost: x.lost}
		}
		all = append(all, out)
	}
	return all
}

// tell signals the batch's outcomes so far to its run.
func (b *batch) tell(ctx context.Context, working int) error {
	if b.a.Client == nil || !activity.IsActivity(ctx) {
		return nil
	}
	w := activity.GetInfo(ctx).WorkflowExecution
	return b.a.Client.SignalWorkflow(ctx, w.ID, w.RunID, workflows.SettledSignal,
		workflows.Settled{Number: b.req.Number, Steps: b.answer(working)})
}
