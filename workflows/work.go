package workflows

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
)

// A run gives steps to workers as activities: a step that may take long by itself, short ones in batches, with those that
// follow from them. A step that is cut into parts has a workflow, Step. Who works on a key holds its lease in the store,
// whatever run asked for it. A worker that finds the lease taken, or cannot do a step, says so, and the step rests on the
// control queue until it may be asked for again.

// Bounds of a batch: steps that can begin, and steps that follow from them.
const (
	batchSteps   = 64
	batchFollows = 256
)

// work is what a worker was given.
type work struct {
	number int
	steps  []int        // by their places now; -1 of one that the plan has no more
	grown  int          // how many times the plan had grown when the work was given: answers have places of then
	left   map[int]bool // steps whose outcome is not known yet
	first  map[int]bool // those that could begin
	rouse  func()       // ends the rest of its only step; nil: it does not rest
	recall func()       // takes it back unless a worker has begun it; nil: no worker has it
	begun  bool         // as a worker reports

	stop    func() // cancels it
	stopped bool   // by a step of it that was cancelled by itself
}

func (w *work) isBatch() bool { return len(w.steps) > 1 }

// activity is the ID of the work's activity, by which those who follow the run find it among the pending ones.
func (w *work) activity() string { return fmt.Sprintf("work-%d", w.number) }

// errRoused ends the rest of a step, or work, that is not asked for now: another execution does so, or none.
var errRoused = errors.New("nothing more is started")

// batches gives short steps out, so many together that every slot gets some, and those that follow from them.
func (r *run) batches(ctx workflow.Context, todo []int) {
	slots := max(4*max(1, r.loaded.Features.Slots), r.in.Slots) // of some workers like the one that loaded the plan, or of all
	for chunk := range slices.Chunk(todo, min(batchSteps, max(1, (len(todo)+slots-1)/slots))) {
		if r.stop {
			return
		}
		for _, i := range chunk {
			r.hold(i)
		}
		r.give(ctx, chunk, r.following(chunk, batchFollows, r.isShort))
	}
}

// give has steps done by an activity; follow are those that can begin when others of them are done.
func (r *run) give(ctx workflow.Context, first, follow []int) {
	r.launch(ctx, first, follow, func(ctx workflow.Context, w *work) ([]Outcome, error) {
		i := w.steps[0]
		head, label := r.heads[i], r.heads[i].Address
		req := DoRequest{Plan: r.loaded.Plan, RunID: r.id, Number: w.number, FailFast: r.in.FailFast}
		if w.isBatch() {
			label = fmt.Sprintf("%d short steps, %s first", len(w.steps), label)
		} else {
			req.TookS, req.Failed = head.TookS, r.past[i].Failed
		}
		var err error
		if req.Steps, req.Keys, err = r.question(ctx, w.steps); err != nil {
			return nil, err
		}
		options := doing(queueName(ctx, head.Queue), label, unbounded)
		options.ActivityID = w.activity()
		for {
			var out []Outcome
			err := r.recallable(ctx, w, func(ctx workflow.Context) error {
				return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), DoActivity, req).Get(ctx, &out)
			})
			if err = cancelledWithWorker(ctx, err, AtWork); err != nil || w.isBatch() || len(out) != 1 || out[0].NotHere == nil {
				return out, err
			}
			x := out[0]
			if i := w.steps[0]; i >= 0 {
				r.singly(i, x.Failed)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err := r.rest(ctx, w, RestRequest{Key: x.Key, Address: head.Address, RunID: r.id, NotHere: *x.NotHere}); err != nil {
				return nil, err
			}
			req.WasBusy, req.Failed = x.NotHere.Busy, x.Failed
		}
	})
}

// recallable has a worker do some work. With FailFast, it can be taken back until a worker has begun it.
func (r *run) recallable(ctx workflow.Context, w *work, do func(workflow.Context) error) error {
	if !r.in.FailFast {
		return do(ctx)
	}
	actx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	w.begun, w.recall = false, func() {
		workflow.Go(ctx, func(workflow.Context) { // after what came with the same workflow task
			if !w.begun {
				cancel()
			}
		})
	}
	err := cancelledWithWorker(actx, do(actx))
	w.recall = nil
	if ctx.Err() == nil && actx.Err() != nil && temporal.IsCanceledError(err) {
		return errRoused
	}
	return err
}

// rest lets the only step of some work rest. An execution that continues as new does not wait for it.
func (r *run) rest(ctx workflow.Context, w *work, req RestRequest) error {
	if r.stop {
		return errRoused
	}
	rctx, rouse := workflow.WithCancel(ctx)
	w.rouse = rouse
	r.resting++
	r.changed = true
	err := rest(rctx, w.activity(), req)
	r.among(ctx)
	r.resting--
	w.rouse = nil
	if ctx.Err() == nil && (rctx.Err() != nil || err == nil && r.stop) {
		return errRoused
	}
	return err
}

// rouse ends the rest of all steps, and takes back what no worker has begun.
func (r *run) rouse() {
	for _, w := range r.given {
		switch {
		case w.rouse != nil:
			w.rouse()
		case w.recall != nil:
			w.recall()
		}
	}
}

// among lets what else came with the same workflow task be noted before something follows from one answer.
func (r *run) among(ctx workflow.Context) {
	noted, note := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(workflow.Context) { note.SetValue(nil) }) // after all that can go on
	_ = noted.Get(ctx, nil)
}

// cut has a step done in parts, by a workflow.
func (r *run) cut(ctx workflow.Context, i int, x Outcome) {
	r.launch(ctx, []int{i}, nil, func(ctx workflow.Context, w *work) ([]Outcome, error) {
		h := r.heads[i]
		id := StepWorkflowID(workflow.GetInfo(ctx).OriginalRunID, w.number)
		r.steps[i].Workflow = id
		cctx := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id, WaitForCancellation: true, WorkflowTaskTimeout: TaskTimeout,
			ParentClosePolicy: enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL, StaticSummary: searchable(h.Address),
			StaticDetails: StartDetails([]Fact{{"step", h.Address}, {"kind", h.Kind}, {"key", x.Key.Hex()}, {"run", r.id}})})
		in := StepInput{Key: x.Key, Task: x.Task, Address: h.Address, Queue: h.Queue, RunID: r.id, Resources: h.Resources}
		if n := r.past[i].Failed; n > 0 {
			in.Failed = map[artifacts.Digest]int32{x.Key: n}
		}
		for tries := 1; ; tries++ {
			var out Outcome
			err := workflow.ExecuteChildWorkflow(cctx, StepWorkflow, in).Get(ctx, &out)
			if errorType(err) == OtherVersionError && tries < healTries && ctx.Err() == nil {
				continue
			}
			out.Index = i
			if err != nil {
				return nil, err
			}
			return []Outcome{out}, nil
		}
	})
}

// launch notes that steps are given out, has their work done, and notes what comes of it.
func (r *run) launch(ctx workflow.Context, first, follow []int, perform func(workflow.Context, *work) ([]Outcome, error)) {
	w := &work{number: len(r.given), steps: slices.Concat(first, follow), grown: len(r.moves), left: map[int]bool{}, first: map[int]bool{}}
	for _, i := range w.steps {
		r.hold(i)
		w.left[i] = true
	}
	for _, i := range first {
		w.first[i] = true
	}
	r.given = append(r.given, w)
	var limits []string
	if r.in.Slots > 0 { // who submits workers looks for what waits for some
		for _, i := range first {
			r.steps[i].Activity = w.activity()
			r.touch(i)
		}
	}
	if i := first[0]; !w.isBatch() {
		limits = r.limitsOf(i)
		r.steps[i].Activity = w.activity()
		r.set(i, runs.Running)
	}
	r.use(limits, 1)
	r.flying++
	began := workflow.Now(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		var wctx workflow.Context
		wctx, w.stop = workflow.WithCancel(ctx)
		out, err := perform(wctx, w)
		w.stop()
		r.settle(w, out)
		r.end(ctx, w, err, workflow.Now(ctx).Sub(began).Seconds())
		r.use(limits, -1)
		r.flying--
		r.unbar()
		r.changed = true
	})
}

// settlements takes what workers report of work before it ends: with FailFast that it has begun, and of a batch what came
// of some of its steps.
func (r *run) settlements(ctx workflow.Context) {
	for {
		var s Settled
		workflow.GetSignalChannel(ctx, SettledSignal).Receive(ctx, &s)
		if ctx.Err() != nil {
			return
		}
		if s.Number >= 0 && s.Number < len(r.given) {
			r.given[s.Number].begun = true
			r.settle(r.given[s.Number], s.Steps)
		}
	}
}

// settle notes the outcomes of steps that were given out, each once.
func (r *run) settle(w *work, out []Outcome) {
	for _, x := range out {
		i := r.today(w.grown, x.Index)
		if !w.left[i] {
			continue
		}
		if x.Status == runs.Running {
			r.steps[i].Activity = w.activity()
			r.set(i, runs.Running)
			r.took(i, LongStep.Seconds())
			continue
		}
		delete(w.left, i)
		r.held[i] = false
		if s := r.steps[i].Status; s != runs.Waiting && s != runs.Running { // another step of the batch has failed
			continue
		}
		if x.Status == runs.Ran {
			r.took(i, x.TookS)
		}
		r.note(i, x)
	}
	r.changed = true
}

// note gives a step the outcome that a look-up or work had for it.
func (r *run) note(i int, x Outcome) {
	s := &r.steps[i]
	switch {
	case x.Status == runs.Hit, x.Status == runs.Ran:
		s.Key, s.TookS, s.Lacks = x.Key, x.TookS, len(r.without(i))
		r.pins = append(r.pins, x.Pins...)
		r.set(i, x.Status)
	case x.Status == runs.Failed:
		s.Key, s.Changed = x.Key, x.Type == SourceChangedError
		r.fail(i, x.Error)
	case x.Lost:
		r.runAgain(i, r.heads[i].Deps)
	default:
		if x.NotHere != nil || x.Failed > 0 { // it may rest, and be tried again, by itself
			r.singly(i, r.past[i].Failed+x.Failed)
		}
		r.set(i, runs.Waiting)
	}
}

// singly takes a step, of which so many attempts have failed, out of batches.
func (r *run) singly(i int, failed int32) {
	past := r.past[i]
	past.Singly, past.Failed = true, failed
	r.past[i] = past
}

// end notes what becomes of steps whose outcome their work, which took so many seconds, did not report: an error of
// it is one of those that could begin.
func (r *run) end(ctx workflow.Context, w *work, err error, took float64) {
	for _, i := range w.steps {
		if i < 0 || !w.left[i] {
			continue
		}
		delete(w.left, i)
		r.held[i] = false
		s := &r.steps[i]
		if s.Status != runs.Waiting && s.Status != runs.Running {
			continue
		}
		if !w.isBatch() && err != nil {
			r.took(i, took)
		}
		switch cancelled := temporal.IsCanceledError(err); {
		case cancelled && ctx.Err() != nil && s.Status == runs.Running:
			r.interrupted(i, begun(err))
		case err == nil:
			r.fail(i, unanswered)
		case errors.Is(err, errRoused), (ctx.Err() != nil || w.stopped) && w.isBatch(), !w.first[i]:
			r.set(i, runs.Waiting)
		case cancelled: // from outside: the run continues without it
			s.Error = "its work was cancelled"
			r.set(i, runs.Cancelled)
			r.skip(i)
		case errorType(err) == InputLostError && !w.isBatch():
			r.runAgain(i, r.heads[i].Deps)
		default:
			s.Changed = errorType(err) == SourceChangedError
			r.fail(i, reason(err))
		}
	}
}
