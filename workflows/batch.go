package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/runs"
)

// Bounds of a batch: steps that can begin, and steps that follow from them.
const (
	batchSteps   = 64
	batchFollows = 256
)

// batchWork is a running batch.
type batchWork struct {
	steps  []int
	grown  int          // how many times the plan had grown when it began: its answers have places of then
	left   map[int]bool // those whose outcome is not known yet
	first  map[int]bool // those that could begin
	cancel func()
}

// batches gives short steps out, so many in one that every slot gets some, and those
// that follow from them.
func (r *run) batches(ctx workflow.Context, todo []int) error {
	slots := 4 * max(1, r.loaded.Features.Slots) // of some workers like the one that loaded the plan
	for chunk := range slices.Chunk(todo, min(batchSteps, max(1, (len(todo)+slots-1)/slots))) {
		if r.stop {
			return nil
		}
		for _, i := range chunk {
			r.hold(i)
		}
		follow := r.following(chunk, batchFollows, func(u int) bool { return r.judge(u) == quick })
		for _, i := range follow {
			r.hold(i)
		}
		if err := r.launch(ctx, chunk, follow); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) launch(ctx workflow.Context, chunk, follow []int) error {
	b := &batchWork{steps: slices.Concat(chunk, follow), grown: len(r.moves), left: map[int]bool{}, first: map[int]bool{}}
	for _, i := range b.steps {
		b.left[i] = true
	}
	for _, i := range chunk {
		b.first[i] = true
	}
	steps, keys, err := r.question(ctx, b.steps)
	if err != nil {
		for _, i := range b.steps {
			r.release(i)
		}
		return err
	}
	number := len(r.work)
	r.work = append(r.work, b)
	req := BatchRequest{Plan: r.loaded.Plan, RunID: r.id, Number: number, Steps: steps, Keys: keys, FailFast: r.in.FailFast}
	label := r.heads[chunk[0]].Address
	if n := len(b.steps); n > 1 {
		label = fmt.Sprintf("%d short steps, %s first", n, label)
	}
	run := ctx
	bctx, cancel := workflow.WithCancel(run)
	b.cancel = cancel
	r.flying++
	r.inline++
	workflow.Go(bctx, func(ctx workflow.Context) {
		var out []Batched
		actx := workflow.WithActivityOptions(ctx, doing(queueName(ctx, ""), label, unbounded))
		err := workflow.ExecuteActivity(actx, BatchActivity, req).Get(ctx, &out)
		r.settleBatch(b, out)
		r.abandon(ctx, b, err, run.Err() != nil)
		r.flying--
		r.inline--
		r.changed = true
	})
	return nil
}

// settlements takes what batches report before they end.
func (r *run) settlements(ctx workflow.Context) {
	for {
		var s Settled
		workflow.GetSignalChannel(ctx, SettledSignal).Receive(ctx, &s)
		if ctx.Err() != nil {
			return
		}
		if s.Number >= 0 && s.Number < len(r.work) {
			r.settleBatch(r.work[s.Number], s.Steps)
		}
	}
}

// settleBatch notes the outcomes of steps of a batch, each once.
func (r *run) settleBatch(b *batchWork, out []Batched) {
	for _, x := range out {
		i := r.today(b.grown, x.Index)
		if !b.left[i] {
			continue
		}
		if x.Status == runs.Running {
			r.set(i, runs.Running)
			r.took(i, LongStep.Seconds())
			continue
		}
		delete(b.left, i)
		r.held[i] = false
		s := &r.steps[i]
		if s.Status != runs.Waiting && s.Status != runs.Running { // another step of the batch has failed
			continue
		}
		s.Key, s.TookS = x.Key, x.TookS
		switch {
		case x.Status == runs.Hit:
			r.set(i, runs.Hit)
		case x.Status == runs.Ran:
			r.pins = append(r.pins, x.Pins...)
			r.took(i, x.TookS)
			r.set(i, runs.Ran)
		case x.Status == runs.Failed:
			s.Changed = x.Type == SourceChangedError
			r.fail(i, x.Error)
		case x.Lost:
			r.runAgain(i, r.heads[i].Deps)
		default:
			if x.Alone {
				r.alone[i] += x.Failed
			}
			r.set(i, runs.Waiting)
		}
	}
	r.changed = true
}

// abandon gives back the steps whose outcome an ended batch did not report. An error of
// the batch itself fails those that could start. Over says that the run was cancelled.
func (r *run) abandon(ctx workflow.Context, b *batchWork, err error, over bool) {
	for _, i := range b.steps {
		if !b.left[i] {
			continue
		}
		delete(b.left, i)
		r.held[i] = false
		if err != nil && ctx.Err() == nil && b.first[i] {
			s := &r.steps[i]
			s.Changed = errorType(err) == SourceChangedError
			r.fail(i, reason(err))
			continue
		}
		if over && r.steps[i].Status == runs.Running {
			r.interrupted(i, true)
			continue
		}
		switch r.steps[i].Status {
		case runs.Running: // it takes long: in a batch again, it would not end before this run continues as new once more
			r.alone[i] += 0
			r.set(i, runs.Waiting)
		case runs.Waiting:
			r.set(i, runs.Waiting)
		}
	}
}

// quit ends batches that are working on something long, for another execution: it asks
// for their steps again.
func (r *run) quit(ctx workflow.Context) {
	_, _ = workflow.AwaitWithTimeout(ctx, handOver, func() bool { return r.inline == 0 })
	for _, b := range r.work {
		if len(b.left) > 0 {
			b.cancel()
		}
	}
}
