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
	inFlight   = 200 // activities and workflows for steps that were started and have not ended
	prepared   = 100 // steps per look-up that are given out by themselves
	shortReady = 512 // short ones
	followed   = 500 // steps that follow from those, where there are hits
	healTries  = 3   // runs of one step after its inputs were lost
	leaveGrace = 20 * time.Second
	hitsKnown  = time.Minute     // what was found for a run that waits longer for a worker is looked up again
	lookUp     = 5 * time.Minute // of one attempt to look steps up, or to write a record

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
	r := &run{in: in, id: in.RunID, paces: map[string]pace{}, used: map[string]int{}, past: map[int]Past{}}
	if r.id == "" {
		r.id = NewRunID(workflow.Now(ctx), workflow.GetInfo(ctx).WorkflowExecution.RunID)
	}
	if last := workflow.GetLastError(ctx); last != nil {
		r.restarted = reason(last)
	}
	if err := r.queries(ctx); err != nil {
		return nil, err
	}
	if err := r.updates(ctx); err != nil {
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
	in        ReproduceInput
	id        string
	restarted string // why it was started again
	loaded    Loaded
	*progress
	pins []step.Pin

	given   []*work // by number
	flying  int     // work that has not ended
	resting int     // of that, steps that rest
	changed bool    // something ended since the dispatcher last looked
	hits    bool    // the last look-up found some

	paces  map[string]pace
	wake   time.Time      // when steps that wait for what is known of their class are taken
	past   map[int]Past   // of steps that have any
	used   map[string]int // how many steps have a limit's name
	barred []int          // steps that wait for room

	stop   bool // start nothing new
	broken bool // a step of a fail-fast run has failed
	long   bool // the history is: go on in another execution

	moves    [][]int // of steps, each time that the plan has grown: to which place
	growNext time.Time

	released  Released
	releasing bool

	from      []HitsFrom
	described time.Time // when details were made last

	events, size int // of the history when the plan was loaded, or a hand-over was tried
}

func (r *run) load(ctx workflow.Context) error {
	lctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "load "+r.in.Pipeline, unbounded))
	if r.in.Carried != nil { // one that is cancelled has a record to write
		var cancel func()
		lctx, cancel = workflow.NewDisconnectedContext(lctx)
		defer cancel()
	}
	req := LoadRequest{Pipeline: r.in.Pipeline, Targets: r.in.Targets, Vars: r.in.Vars, Plan: r.in.Plan, RunID: r.id, Project: r.in.Project, UnderWay: r.in.Carried != nil}
	if waited := workflow.Now(ctx).Sub(workflow.GetInfo(ctx).WorkflowStartTime); r.restarted == "" && waited < hitsKnown {
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
	r.pins = pins
	if err := r.resume(ctx, p); err != nil {
		return err
	}
	r.progress, r.from = p, r.loaded.From
	r.measure(ctx)
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
		if !r.stop && r.grown(ctx) && r.handOver(ctx) {
			return nil
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
		if ctx.Err() != nil { // what is running ends at its checkpoint
			r.stop = true
			dctx, cancel := workflow.NewDisconnectedContext(ctx)
			_, _ = workflow.AwaitWithOptions(dctx, atMost(leaveGrace, "what is at work may stop"), func() bool { return r.flying == 0 })
			cancel()
			return ctx.Err()
		}
		if rest := r.wake.Sub(workflow.Now(ctx)); !r.stop && rest > 0 {
			_, _ = workflow.AwaitWithOptions(ctx, atMost(rest, "the first steps of a program show whether it is short"), func() bool { return r.changed })
			continue
		}
		if r.flying == 0 {
			if !r.stop && r.hasDecided() {
				r.growNext = time.Time{}
				continue
			}
			return nil
		}
		if rest := r.growNext.Sub(workflow.Now(ctx)); !r.stop && rest > 0 && r.hasDecided() {
			_, _ = workflow.AwaitWithOptions(ctx, atMost(rest, "more results may come that decide about steps"), func() bool { return r.changed })
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
	ready := r.take(shortReady, min(prepared, inFlight-r.flying), r.isShort, r.later(workflow.Now(ctx)))
	if len(ready) == 0 {
		return false, nil
	}
	return true, r.dispatch(ctx, ready)
}

// dispatch learns the keys of ready steps, and of those that follow as far as there
// are hits, and gives out what has no result.
func (r *run) dispatch(ctx workflow.Context, ready []int) error {
	var follow []int
	if r.hits { // else what is ready now follows from steps that have just run: none is likely
		follow = r.following(ready, followed, func(int) bool { return true })
	}
	for _, i := range follow {
		r.hold(i)
	}
	answers, err := r.lookUp(ctx, append(ready, follow...))
	r.among(ctx)
	for _, i := range follow {
		r.held[i] = false
	}
	if err != nil {
		return err
	}
	r.hits = false
	var short []int
	for _, x := range answers {
		i := x.Index
		if s := &r.steps[i]; s.Status == runs.Waiting {
			s.Key = x.Key
		}
		switch {
		case r.steps[i].Status != runs.Waiting: // an input of it failed meanwhile
		case x.Status == runs.Hit:
			r.hits = true
			r.from = AddHit(r.from, r.steps[i].Address, x.From)
			r.note(i, x)
		case x.Status != runs.Waiting, x.Lost:
			r.hits = r.hits || x.Status == runs.Ran // before this execution, or in an attempt whose answer was lost
			r.note(i, x)
		case r.stop, r.open[i] > 0:
		case !r.room(r.limitsOf(i)):
			r.bar(i)
		case r.heads[i].Splits:
			r.cut(ctx, i, x)
		case r.isShort(i):
			short = append(short, i)
		default:
			r.tried(i, workflow.Now(ctx))
			r.give(ctx, []int{i}, nil)
		}
	}
	for _, i := range follow {
		r.offer(i)
	}
	r.batches(ctx, short)
	r.unbar() // those barred behind one that was done
	return nil
}

func (r *run) lookUp(ctx workflow.Context, steps []int) (answers []Outcome, err error) {
	req := PrepareRequest{Plan: r.loaded.Plan, RunID: r.id}
	if req.Steps, req.Keys, err = r.question(ctx, steps); err != nil {
		return nil, err
	}
	pctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), fmt.Sprintf("look up %d steps", len(steps)), lookUp))
	err = workflow.ExecuteActivity(pctx, PrepareActivity, req).Get(ctx, &answers)
	return answers, err
}

// question names steps, and the keys of all their inputs.
func (r *run) question(ctx workflow.Context, asked []int) (steps []Ready, pages Pages[DoneStep], err error) {
	var keys []DoneStep
	named := map[int]bool{}
	for _, i := range asked {
		steps = append(steps, Ready{Index: i, Cut: r.heads[i].Splits, Bytes: r.past[i].Bytes})
		for _, d := range r.heads[i].Deps {
			if named[d] {
				continue
			}
			named[d] = true
			key := DoneStep{Index: d, Gone: r.gone[d]}
			if done(r.steps[d].Status) { // else it is asked for, too
				key.Key = r.steps[d].Key
			}
			keys = append(keys, key)
		}
	}
	pages, err = stash(ctx, keys)
	return steps, pages, err
}

// runAgain puts a step back to waiting together with inputs whose results are
// gone: their next Prepare finds what is really there.
func (r *run) runAgain(i int, lost []int) {
	past := r.past[i]
	past.Lost++
	r.past[i] = past
	if past.Lost > healTries {
		r.fail(i, fmt.Sprintf("%d times its inputs were missing from the store when it was to start: `redsi verify --repair` finds what is damaged", healTries))
		return
	}
	for _, d := range lost {
		if done(r.steps[d].Status) {
			past := r.past[d]
			past.Bytes = r.heads[d].Temporary
			r.past[d] = past
			r.set(d, runs.Waiting)
		}
	}
	r.set(i, runs.Waiting)
}

func (r *run) fail(i int, why string) {
	r.steps[i].Error = why
	r.set(i, runs.Failed)
	if r.in.FailFast && !r.broken { // what is running ends in this execution: another one would start the rest
		r.stop, r.broken = true, true
		r.rouse()
	}
}
