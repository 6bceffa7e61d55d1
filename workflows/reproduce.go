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
	prepared   = 100 // steps per look-up that are given out on their own
	shortReady = 512 // short steps per look-up
	followed   = 500 // steps that follow from these, where there are hits
	healTries  = 3   // runs of one step after its inputs were lost
	leaveGrace = 20 * time.Second
	hitsKnown  = time.Minute     // if a run waits longer for a worker, its hits are looked up again
	lookUp     = 5 * time.Minute // of one attempt to look steps up, or to write a record

	targetsMost = artifacts.MaxRecord * 3 / 4 // bytes of JSON
)

// Reproduce loads a plan and does the steps without results, each as soon as its inputs have results. If a step
// failed, it returns an error after everything that does not depend on the step is done (or, with FailFast, at once).
// It refuses a second input, since whoever gives one expects something of it.
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
	} else if in.Carried != nil {
		r.restarted = in.Carried.Restarted
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
	restarted string // why the server has restarted it
	loaded    Loaded
	*progress
	pins []step.Pin

	given   []*work // by number
	flying  int     // work that has not ended
	resting int     // steps of that work that rest
	changed bool    // something ended since the dispatcher last looked
	hits    bool    // the last look-up found some

	paces  map[string]pace
	wake   time.Time      // when steps that wait for the first of their class are taken
	past   map[int]Past   // of steps that have one
	used   map[string]int // by a limit's name: how many steps have it
	barred []int          // steps that wait for room

	stop   bool // start nothing new
	broken bool // a step of a fail-fast run has failed
	long   bool // the history is: go on in another execution

	moves    [][]int // of steps, each time that the plan has grown: to which place
	growNext time.Time

	released  Released
	releasing bool

	from      []HitsFrom
	described time.Time // when details were last set

	events, size int // of the history when the plan was loaded, or a hand-over was last tried
}

func (r *run) load(ctx workflow.Context) error {
	lctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "load "+r.in.Pipeline, unbounded))
	if r.in.Carried != nil { // also if it is cancelled it has a record to write
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
	r.pins, r.from = pins, r.loaded.From
	if err := r.resume(ctx, p); err != nil {
		return err
	}
	r.progress = p
	r.measure(ctx)
	r.describe(ctx)
	return nil
}

// walk dispatches until nothing is left to start and nothing is running, or until the history is so long that another
// execution must continue.
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
			if ctx.Err() == nil { // start nothing new, and wait for running work
				_ = workflow.Await(ctx, func() bool { return r.flying == 0 })
				return err
			}
			continue
		} else if more {
			continue
		}
		if ctx.Err() != nil { // running work ends at its checkpoints
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

// proceed grows the plan, or dispatches ready steps, if either is due.
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

// dispatch looks up ready steps and, as far as there are hits, the steps that follow, and gives out the steps without
// results.
func (r *run) dispatch(ctx workflow.Context, ready []int) error {
	var follow []int
	if r.hits { // else the ready steps follow from steps that have just run, and further hits are unlikely
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
	r.unbar() // a barred step may have been a hit
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
			if done(r.steps[d].Status) { // else it is in the same request
				key.Key = r.steps[d].Key
			}
			keys = append(keys, key)
		}
	}
	pages, err = stash(ctx, keys)
	return steps, pages, err
}

// runAgain puts a step back to waiting, together with the inputs whose results may be gone: the next look-up finds
// what is there.
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
	if r.in.FailFast && !r.broken { // running work ends in this execution: another execution would start the rest
		r.stop, r.broken = true, true
		r.rouse()
	}
}
