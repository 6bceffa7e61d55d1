package workflows

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
)

// Bounds of one run. A step's own work is bounded by the workers' slots.
const (
	inFlight   = 200 // workflows and batches started and not finished
	prepared   = 100 // steps per Prepare call that may get a workflow of their own
	shortReady = 512 // short ones
	followed   = 500 // steps that follow from those, where there are hits
	healTries  = 3   // runs of one step after its inputs were lost
	leaveGrace = 20 * time.Second
	hitsKnown  = time.Minute     // what was found for a run that waits longer for a worker is looked up again
	lookUp     = 5 * time.Minute // of one attempt to look up a batch, or to write a record

	targetsMost = artifacts.MaxRecord * 3 / 4 // bytes of JSON
)

// Reproduce loads a plan and does what it lacks, every step as soon as its
// inputs have results. It returns an error if a step failed, after everything
// that does not depend on it is done (or, with FailFast, at once). A second input is
// refused: who gives one means something by it.
func Reproduce(ctx workflow.Context, in ReproduceInput, second *json.RawMessage) (*ReproduceResult, error) {
	targets := 0
	for _, t := range in.Targets {
		targets += len(strconv.Quote(t)) + len(",")
	}
	if second != nil || in.Pipeline == "" {
		return nil, temporal.NewNonRetryableApplicationError("a run has one input, which names its pipeline: "+inputForm, PermanentError, nil)
	} else if targets > targetsMost {
		return nil, temporal.NewNonRetryableApplicationError(fmt.Sprintf("the targets have %d bytes, and the record of a run has room for %d: name blocks in place of their instances", targets, targetsMost), PermanentError, nil)
	}
	out, err := reproduce(ctx, in)
	return out, final(cancelledWithWorker(ctx, err))
}

func reproduce(ctx workflow.Context, in ReproduceInput) (*ReproduceResult, error) {
	r := &run{in: in, id: in.RunID, members: map[string]bool{}, stays: map[string]bool{}, paces: map[string]*pace{}, alone: map[int]int32{}, within: map[int]bool{}, used: map[string]int{}}
	if r.id == "" {
		r.id = NewRunID(workflow.Now(ctx), workflow.GetInfo(ctx).WorkflowExecution.RunID)
	}
	if last := workflow.GetLastError(ctx); last != nil {
		r.again = reason(last)
	}
	if err := r.queries(ctx); err != nil {
		return nil, err
	}
	if err := r.load(ctx); err != nil {
		if ctx.Err() != nil && in.Carried == nil {
			r.close(ctx)
		}
		return nil, err
	}
	workflow.Go(ctx, r.settlements)
	if slices.ContainsFunc(r.heads, func(h Head) bool { return h.Temporary || len(h.Awaits) > 0 }) {
		workflow.Go(ctx, r.releases)
	}
	err := r.walk(ctx)
	if r.long && err == nil {
		if err := workflow.Await(ctx, func() bool { return !r.releasing }); err != nil {
			return nil, err
		}
		return nil, r.continuation(ctx)
	}
	return r.finish(ctx, err)
}

// run is the state of one Reproduce execution.
type run struct {
	in     ReproduceInput
	id     string
	again  string // why it was started again
	loaded Loaded
	*progress
	tries   map[int]int
	mine    map[int]bool // steps that an execution of this run before has started
	pins    []step.Pin
	paces   map[string]*pace
	within  map[int]bool   // running steps that have limits
	used    map[string]int // how many have each
	barred  []barred
	alone   map[int]int32 // steps that are not part of a batch any more, and how often each failed in one
	work    []*batchWork  // by number
	flying  int           // running workflows and batches
	inline  int           // batches
	hits    bool          // the last look-up found some
	changed bool          // something finished since the dispatcher last looked
	stop    bool          // start nothing new
	long    bool          // the history is: go on in another execution
	members map[string]bool

	moves    [][]int // of steps, each time that the plan has grown: to which place
	growNext time.Time

	whole     map[int]bool // temporary steps whose bytes a step that must run reads
	released  Released
	releasing bool

	from      []HitsFrom
	described time.Time       // when details were made last
	stays     map[string]bool // workflows of steps that go on for others after this run has left

	events, bytes int // of the history when the plan was loaded
}

func (r *run) load(ctx workflow.Context) error {
	lctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "load "+r.in.Pipeline, unbounded))
	if r.in.Carried != nil { // one that is cancelled has steps to leave, and a record to write
		var cancel func()
		lctx, cancel = workflow.NewDisconnectedContext(lctx)
		defer cancel()
	}
	req := LoadRequest{Pipeline: r.in.Pipeline, Targets: r.in.Targets, Vars: r.in.Vars, Plan: r.in.Plan, RunID: r.id, Project: r.in.Project, Again: r.in.Carried != nil}
	if waited := workflow.Now(ctx).Sub(workflow.GetInfo(ctx).WorkflowStartTime); r.again == "" && waited < hitsKnown {
		req.Hits = r.in.Hits
	}
	if err := workflow.ExecuteActivity(lctx, LoadActivity, req).Get(ctx, &r.loaded); err != nil {
		return err
	}
	if r.loaded.Features.SearchAttributes {
		if err := workflow.UpsertTypedSearchAttributes(ctx, pipelineAttribute.ValueSet(Short(r.loaded.Name))); err != nil {
			return err
		}
	}
	heads, err := unstash(ctx, r.loaded.Steps)
	hits, herr := unstash(ctx, r.loaded.Hits)
	pins, perr := unstash(ctx, r.loaded.Pins)
	if err := cmp.Or(err, herr, perr); err != nil {
		return err
	}
	p := newProgress(heads)
	for _, d := range hits {
		p.steps[d.Index].Key, p.steps[d.Index].TookS = d.Key, d.TookS
		p.set(d.Index, runs.Hit)
	}
	r.pins, r.tries, r.mine, r.whole = pins, map[int]int{}, map[int]bool{}, map[int]bool{}
	if err := r.resume(ctx, p); err != nil {
		return err
	}
	r.progress, r.from = p, r.loaded.From
	r.reenter()
	info := workflow.GetInfo(ctx)
	r.events, r.bytes = info.GetCurrentHistoryLength(), info.GetCurrentHistorySize()
	r.describe(ctx)
	return nil
}

// walk dispatches until nothing is left to start and nothing is running, or until
// the history is so long that another execution must continue.
func (r *run) walk(ctx workflow.Context) error {
	for {
		if r.changed && workflow.Now(ctx).Sub(r.described) >= describeGap {
			r.describe(ctx)
		}
		r.changed = false
		if !r.stop && r.grown(ctx) {
			r.stop, r.long = true, true
		}
		if more, err := r.proceed(ctx); err != nil {
			r.stop = true
			if ctx.Err() == nil { // nothing new is started: wait for what is running
				_ = workflow.Await(ctx, func() bool { return r.flying == 0 })
				return err
			}
			continue
		} else if more {
			continue
		}
		if ctx.Err() != nil && r.flying+len(r.members) > 0 {
			r.stop = true
			return r.leave(ctx)
		}
		if r.flying == 0 {
			switch {
			case r.stop || ctx.Err() != nil:
				return ctx.Err()
			case r.hasDecided():
				r.growNext = time.Time{}
			case !r.unbar():
				return nil
			}
			continue
		}
		if r.long && r.inline > 0 {
			r.quit(ctx)
		}
		if r.long && r.inline == 0 { // what runs in workflows of its own may go on for days
			_, _ = workflow.AwaitWithTimeout(ctx, handOver, func() bool { return r.flying == 0 })
			if ctx.Err() == nil && r.long {
				return nil
			}
			continue
		}
		if rest := r.growNext.Sub(workflow.Now(ctx)); !r.stop && rest > 0 && r.hasDecided() {
			_, _ = workflow.AwaitWithTimeout(ctx, rest, func() bool { return r.changed })
			continue
		}
		if err := workflow.Await(ctx, func() bool { return r.changed }); err != nil {
			continue // cancelled: seen above
		}
	}
}

// proceed makes the plan again, or dispatches what is ready, if either is due.
func (r *run) proceed(ctx workflow.Context) (more bool, err error) {
	if r.mayGrow(ctx) {
		return true, r.grow(ctx)
	}
	if r.stop || r.flying >= inFlight {
		return false, nil
	}
	ready := r.take(shortReady, min(prepared, inFlight-r.flying), func(i int) bool { return r.judge(i) != slow })
	if len(ready) == 0 {
		return false, nil
	}
	return true, r.dispatch(ctx, ready)
}

// dispatch learns the keys of ready steps, and of those that follow as far as there
// are hits, and starts what has no result.
func (r *run) dispatch(ctx workflow.Context, ready []int) error {
	var follow []int
	if r.hits { // else what is ready now follows from steps that have just run: none is likely
		follow = r.following(ready, followed, func(int) bool { return true })
	}
	for _, i := range follow {
		r.hold(i)
	}
	answers, err := r.lookUp(ctx, append(ready, follow...))
	for _, i := range follow {
		r.held[i] = false
	}
	if err != nil {
		return err
	}
	r.hits = false
	var todo []int
	for _, p := range answers {
		if !p.Waits && r.start(ctx, p) {
			todo = append(todo, p.Index)
		}
	}
	for _, i := range follow {
		r.offer(i)
	}
	return r.batches(ctx, todo)
}

func (r *run) lookUp(ctx workflow.Context, steps []int) (answers []Prepared, err error) {
	req := PrepareRequest{Plan: r.loaded.Plan, RunID: r.id}
	if req.Steps, req.Keys, err = r.question(ctx, steps); err != nil {
		return nil, err
	}
	pctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), fmt.Sprintf("look up %d steps", len(steps)), lookUp))
	err = workflow.ExecuteActivity(pctx, PrepareActivity, req).Get(ctx, &answers)
	return answers, err
}

// question names steps, and the keys of all their inputs.
func (r *run) question(ctx workflow.Context, ready []int) (steps []Ready, pages Pages[DoneStep], err error) {
	var keys []DoneStep
	named := map[int]bool{}
	for _, i := range ready {
		steps = append(steps, Ready{Index: i, Short: r.judge(i) == quick, Whole: r.whole[i]})
		for _, d := range r.heads[i].Deps {
			if named[d] {
				continue
			}
			named[d] = true
			key := DoneStep{Index: d}
			if done(r.steps[d].Status) { // else it is asked for, too
				key.Key = r.steps[d].Key
			}
			keys = append(keys, key)
		}
	}
	pages, err = stash(ctx, keys)
	return steps, pages, err
}

// start does what an answer asks for; batched says that the step is for a batch.
func (r *run) start(ctx workflow.Context, p Prepared) (batched bool) {
	s := &r.steps[p.Index]
	if s.Status != runs.Waiting {
		return false
	}
	defer func() {
		if s.Status != runs.Running { // it has ended since an execution before started it
			r.exit(ctx, p.Index)
		}
	}()
	switch {
	case p.Error != "":
		r.fail(p.Index, p.Error)
	case p.Lost:
		r.runAgain(p.Index, r.heads[p.Index].Deps)
	case p.Hit:
		s.Key, s.TookS, r.hits = p.Key, p.TookS, true
		if p.Own { // it ended while another execution of this run took over, or in an attempt that was lost
			r.pins = append(r.pins, p.Pins...)
			r.set(p.Index, runs.Ran)
		} else {
			r.set(p.Index, runs.Hit)
			r.from = AddHit(r.from, r.steps[p.Index].Address, p.From)
		}
	case p.Task.IsZero(): // it was thought short when it was asked for
		return true
	default:
		switch r.judge(p.Index) {
		case quick:
			return true
		case unknown:
			if !r.stop && !r.probe(ctx, p.Index) {
				return false
			}
		}
		if r.stop || !r.enter(p) {
			return false
		}
		s.Key = p.Key
		r.set(p.Index, runs.Running)
		r.flying++
		began, grown := workflow.Now(ctx), len(r.moves)
		workflow.Go(ctx, func(ctx workflow.Context) {
			done, err := r.perform(ctx, p, grown)
			took, i := done.TookS, r.today(grown, p.Index)
			if err != nil {
				took = workflow.Now(ctx).Sub(began).Seconds()
			}
			switch {
			case i < 0: // the plan has no such step any more
			case err != nil && ctx.Err() != nil && temporal.IsCanceledError(err):
				r.took(i, took)
				r.interrupted(i, begun(err))
			default:
				r.took(i, took)
				r.settle(i, done, err)
			}
			r.exit(ctx, i)
			r.flying--
			r.changed = true
		})
	}
	return false
}

// perform does one step's work in a workflow of its own; its place is of a plan that had
// grown so many times.
func (r *run) perform(ctx workflow.Context, p Prepared, grown int) (Executed, error) {
	i := r.today(grown, p.Index)
	h := r.heads[i]
	r.steps[i].Workflow = StepWorkflowID(p.Key)
	r.touch(i)
	return r.shared(ctx, func() int { return r.today(grown, p.Index) }, StepInput{Key: p.Key, Task: p.Task, Address: h.Address, Kind: h.Kind,
		Queue: h.Queue, Splits: h.Splits, RunID: r.id, TookS: h.TookS, Resources: h.Resources, Features: r.loaded.Features, Failed: r.alone[i]})
}

func (r *run) settle(i int, done Executed, err error) {
	s := &r.steps[i]
	switch {
	case err == nil:
		s.Key, s.TookS = done.Key, done.TookS
		if done.Hit {
			r.set(i, runs.Hit)
		} else {
			r.set(i, runs.Ran)
		}
		r.pins = append(r.pins, done.Pins...)
	case errorType(err) == InputLostError:
		r.runAgain(i, r.heads[i].Deps)
	case temporal.IsCanceledError(err): // from outside: the run continues without it
		s.Error = "its workflow was cancelled"
		r.set(i, runs.Cancelled)
		r.skip(i, "which was cancelled")
	default:
		s.Changed = errorType(err) == SourceChangedError
		r.fail(i, reason(err))
	}
}

// runAgain puts a step back to waiting together with inputs whose results are
// gone: their next Prepare finds what is really there.
func (r *run) runAgain(i int, lost []int) {
	if r.tries[i]++; r.tries[i] > healTries {
		r.fail(i, "its inputs were lost from the store again and again: verify the store")
		return
	}
	for _, d := range lost {
		if done(r.steps[d].Status) {
			r.whole[d] = r.heads[d].Temporary
			r.set(d, runs.Waiting)
		}
	}
	r.set(i, runs.Waiting)
}

func (r *run) fail(i int, why string) {
	r.steps[i].Error = why
	r.set(i, runs.Failed)
	if r.in.FailFast { // what is running ends in this execution: another one would start the rest
		r.stop, r.long = true, false
	}
}
