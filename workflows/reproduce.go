package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/step"
)

// Bounds of one run. A step's own work is bounded by the workers' slots.
const (
	inFlight   = 200 // steps started and not finished
	batch      = 100 // steps per Prepare call
	healTries  = 3   // runs of one step after its inputs were lost
	leaveGrace = 20 * time.Second
	lookUp     = 5 * time.Minute // of one attempt to look up a batch, or to write a record
)

// Reproduce loads a plan and does what it lacks, every step as soon as its
// inputs have results. It returns an error if a step failed, after everything
// that does not depend on it is done (or, with FailFast, at once).
func Reproduce(ctx workflow.Context, in ReproduceInput) (*ReproduceResult, error) {
	if in.Pipeline == "" {
		return nil, temporal.NewNonRetryableApplicationError(
			`the input names no pipeline: {"pipeline": "pipelines.hcl", "targets": […], "vars": {…}}`, PermanentError, nil)
	}
	r := &run{in: in, id: in.RunID}
	if r.id == "" {
		r.id = NewRunID(workflow.Now(ctx), workflow.GetInfo(ctx).WorkflowExecution.RunID)
	}
	if err := workflow.SetQueryHandler(ctx, StateQuery, func() (State, error) { return r.state(), nil }); err != nil {
		return nil, err
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	err := r.walk(ctx)
	if again := r.continuation(ctx, err); again != nil {
		return nil, again
	}
	return r.finish(ctx, err)
}

// run is the state of one Reproduce execution.
type run struct {
	in      ReproduceInput
	id      string
	loaded  Loaded
	steps   []StepState
	tries   []int
	pins    []step.Pin
	flying  int
	changed bool // something finished since the dispatcher last looked
	stop    bool // start nothing new
	members map[string]bool
}

func (r *run) state() State { return State{RunID: r.id, Steps: r.steps} }

func (r *run) load(ctx workflow.Context) error {
	lctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "load "+r.in.Pipeline, unbounded))
	req := LoadRequest{Pipeline: r.in.Pipeline, Targets: r.in.Targets, Vars: r.in.Vars, Plan: r.in.Plan}
	if err := workflow.ExecuteActivity(lctx, LoadActivity, req).Get(ctx, &r.loaded); err != nil {
		return err
	}
	if r.loaded.Features.SearchAttributes {
		if err := workflow.UpsertTypedSearchAttributes(ctx, pipelineAttribute.ValueSet(r.loaded.Name)); err != nil {
			return err
		}
	}
	r.steps = make([]StepState, len(r.loaded.Steps))
	r.tries = make([]int, len(r.loaded.Steps))
	r.members = map[string]bool{}
	for i, h := range r.loaded.Steps {
		r.steps[i] = StepState{Address: h.Address, Status: Waiting}
	}
	for _, d := range r.loaded.Hits {
		r.steps[d.Index].Status, r.steps[d.Index].Key = Hit, d.Key
	}
	for _, d := range r.in.Done {
		s := &r.steps[d.Index]
		if s.Key = d.Key; !d.Hit {
			s.Status = Ran
		} else {
			s.Status = Hit
		}
	}
	r.describe(ctx)
	return nil
}

// walk dispatches until nothing is left to start and nothing is running.
func (r *run) walk(ctx workflow.Context) error {
	for {
		r.changed = false
		r.skipDependants()
		ready := r.ready()
		if len(ready) > 0 && !r.stop && r.flying < inFlight {
			if err := r.dispatch(ctx, ready); err != nil {
				r.stop = true
				if ctx.Err() == nil {
					r.drain(ctx)
					return err
				}
			}
			continue
		}
		if r.flying == 0 {
			return ctx.Err()
		}
		if ctx.Err() != nil || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			r.stop = true
		}
		if ctx.Err() != nil {
			return r.leave(ctx)
		}
		if err := workflow.Await(ctx, func() bool { return r.changed }); err != nil {
			continue // cancelled: seen above
		}
	}
}

// drain waits for what is running when nothing new will be started.
func (r *run) drain(ctx workflow.Context) {
	_ = workflow.Await(ctx, func() bool { return r.flying == 0 })
}

func (r *run) done(i int) bool { return r.steps[i].Status == Hit || r.steps[i].Status == Ran }

// ready lists the waiting steps whose inputs all have results.
func (r *run) ready() []int {
	var ready []int
	for i, s := range r.steps {
		if s.Status != Waiting {
			continue
		}
		ok := true
		for _, d := range r.loaded.Steps[i].Deps {
			if !r.done(d) {
				ok = false
				break
			}
		}
		if ok && len(ready) < batch && r.flying+len(ready) < inFlight {
			ready = append(ready, i)
		}
	}
	return ready
}

func (r *run) skipDependants() {
	for i, s := range r.steps { // steps follow their inputs, so one pass is enough
		if s.Status != Waiting {
			continue
		}
		for _, d := range r.loaded.Steps[i].Deps {
			if st := r.steps[d].Status; st == Failed || st == Skipped {
				r.steps[i].Status = Skipped
				r.steps[i].Error = "waits for " + r.steps[d].Address
				break
			}
		}
	}
}

// dispatch learns the keys of ready steps and starts those without a result.
func (r *run) dispatch(ctx workflow.Context, ready []int) error {
	req := PrepareRequest{Plan: r.loaded.Plan}
	for _, i := range ready {
		s := Ready{Index: i}
		for _, d := range r.loaded.Steps[i].Deps {
			s.Deps = append(s.Deps, r.steps[d].Key)
		}
		req.Steps = append(req.Steps, s)
	}
	pctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), fmt.Sprintf("look up %d steps", len(ready)), lookUp))
	var prepared []Prepared
	if err := workflow.ExecuteActivity(pctx, PrepareActivity, req).Get(ctx, &prepared); err != nil {
		return err
	}
	for _, p := range prepared {
		r.start(ctx, p)
	}
	return nil
}

func (r *run) start(ctx workflow.Context, p Prepared) {
	s := &r.steps[p.Index]
	switch {
	case p.Error != "":
		r.fail(p.Index, p.Error)
	case len(p.Lost) > 0:
		r.runAgain(p.Index, p.Lost)
	case p.Hit:
		s.Status, s.Key, s.TookS = Hit, p.Key, p.TookS
	default:
		s.Status, s.Key = Running, p.Key
		r.flying++
		workflow.Go(ctx, func(ctx workflow.Context) {
			done, err := r.perform(ctx, p)
			r.settle(p.Index, done, err)
			r.flying--
			r.changed = true
		})
	}
}

// perform does one step's work, inline or in a workflow of its own.
func (r *run) perform(ctx workflow.Context, p Prepared) (Executed, error) {
	h := r.loaded.Steps[p.Index]
	if h.Inline && !h.Splits {
		return execute(ctx, h.Address, h.Queue, ExecuteRequest{Key: p.Key, Task: p.Task, Address: h.Address, RunID: r.id})
	}
	r.steps[p.Index].Workflow = StepWorkflowID(p.Key)
	return r.shared(ctx, p.Index, StepInput{Key: p.Key, Task: p.Task, Address: h.Address, Kind: h.Kind,
		Queue: h.Queue, Splits: h.Splits, RunID: r.id, Features: r.loaded.Features})
}

func (r *run) settle(i int, done Executed, err error) {
	s := &r.steps[i]
	switch {
	case err == nil:
		s.Status, s.Key, s.TookS = Ran, done.Key, done.TookS
		if done.Hit {
			s.Status = Hit
		}
		r.pins = append(r.pins, done.Pins...)
	case errorType(err) == InputLostError:
		r.runAgain(i, r.loaded.Steps[i].Deps)
	default:
		s.Changed = errorType(err) == SourceChangedError
		r.fail(i, reason(err))
	}
}

// runAgain puts a step back to waiting together with inputs whose results are
// gone: their next Prepare finds what is really there.
func (r *run) runAgain(i int, lost []int) {
	if r.tries[i]++; r.tries[i] > healTries {
		r.fail(i, "its inputs were lost from the store again and again; run `redsi verify`")
		return
	}
	r.steps[i].Status = Waiting
	for _, d := range lost {
		if r.done(d) {
			r.steps[d].Status = Waiting
		}
	}
}

func (r *run) fail(i int, why string) {
	r.steps[i].Status, r.steps[i].Error = Failed, why
	if r.in.FailFast {
		r.stop = true
	}
}

// finish journals the run and reports failures.
func (r *run) finish(ctx workflow.Context, err error) (*ReproduceResult, error) {
	dctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	r.describe(dctx)
	if jerr := r.journal(dctx); jerr != nil && err == nil {
		err = jerr
	}
	if err != nil {
		return nil, err
	}
	out := &ReproduceResult{RunID: r.id, Plan: r.loaded.Plan, Pins: r.pins}
	var failures []string
	for _, s := range r.steps {
		switch s.Status {
		case Hit:
			out.Hit++
		case Ran:
			out.Ran++
		case Failed:
			out.Failed++
			failures = append(failures, s.Address+": "+s.Error)
			if s.Changed {
				out.Changed = append(out.Changed, s.Address)
			}
		}
	}
	if out.Failed > 0 {
		return nil, temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("%d of %d steps failed:\n%s", out.Failed, len(r.steps), strings.Join(failures, "\n")), "failed", nil, out)
	}
	return out, nil
}

func (r *run) journal(ctx workflow.Context) error {
	rec := RunRecord{RunID: r.id, Workflow: workflow.GetInfo(ctx).WorkflowExecution.ID, Pipeline: r.loaded.Name,
		Plan: r.loaded.Plan, Targets: r.in.Targets}
	for _, s := range r.steps {
		rec.Steps = append(rec.Steps, RunStep{Address: s.Address, Key: s.Key, Outcome: s.Status, TookS: s.TookS, Error: s.Error})
	}
	jctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "write the run record", lookUp))
	return workflow.ExecuteActivity(jctx, JournalActivity, JournalRequest{Run: rec, Pins: r.pins, Lock: r.in.Plan == nil}).Get(ctx, nil)
}

// continuation returns the continue-as-new error of a run that stopped because
// its history grew long; nil if it stopped for another reason.
func (r *run) continuation(ctx workflow.Context, err error) error {
	if err != nil || !r.stop || !workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		return nil
	}
	waiting := false
	next := r.in
	next.RunID, next.Plan = r.id, &artifacts.Digest{}
	*next.Plan = r.loaded.Plan
	next.Done = nil
	for i, s := range r.steps {
		switch s.Status {
		case Waiting:
			waiting = true
		case Failed:
			return nil
		case Hit, Ran:
			next.Done = append(next.Done, DoneStep{Index: i, Key: s.Key, Hit: s.Status == Hit})
		}
	}
	if !waiting {
		return nil
	}
	return workflow.NewContinueAsNewError(ctx, ReproduceWorkflow, next)
}
