package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Execute does a part of a step, or a step whose parts are done.
func (a *Activities) Execute(ctx context.Context, req workflows.ExecuteRequest) (workflows.Outcome, error) {
	out, err := attempt(ctx, a, func(ctx context.Context) (workflows.Outcome, error) {
		n := failed(ctx)
		n.Store(max(n.Load(), req.Failed))
		task, _, err := a.task(ctx, req)
		if err != nil {
			return workflows.Outcome{}, err
		}
		done, err := a.executeTask(ctx, req, task)
		done.Failed = n.Load()
		return done.Outcome, err
	})
	return out, atWork(err)
}

// executed is the outcome of a task, with its result if it has one.
type executed struct {
	workflows.Outcome
	result *artifacts.Result
}

// executeTask returns the result of a task, which it runs if there is none, and checks the result. Only here is work
// done and are results published: blobs first, the record last, the first writer wins. Errors are never cached.
func (a *Activities) executeTask(ctx context.Context, req workflows.ExecuteRequest, task step.Task) (executed, error) {
	kind := "unknown" // a label is one of few
	if spec := a.Registry.Lookup(task.Kind); spec != nil {
		kind = spec.Name
	}
	ctx, end := a.Telemetry.Begin(ctx, telemetry.Step{Kind: kind, Address: req.Address, Key: req.Key.Hex(), Run: req.RunID})
	done, err := a.executeLeased(ctx, req, task)
	if err == nil && done.result != nil {
		if err = a.checked(ctx, a.Store.Open, req.Address, task, done.result); err != nil {
			done = executed{}
		}
	}
	end(outcome(ctx, done, err))
	return done, err
}

// outcome returns the outcome of a step for telemetry.
func outcome(ctx context.Context, done executed, err error) string {
	switch {
	case err != nil && ctx.Err() != nil:
		return "interrupted"
	case err != nil:
		return telemetry.Failed
	case done.NotHere != nil:
		return "busy"
	case done.Status == runs.Hit:
		return telemetry.Hit
	}
	return telemetry.Ran
}

// executeLeased does the work under a lease: of several activities for one key, one works and the others are told so.
func (a *Activities) executeLeased(ctx context.Context, req workflows.ExecuteRequest, task step.Task) (executed, error) {
	before, err := a.before(ctx, req)
	if err != nil {
		return executed{}, err
	}
	if why := cmp.Or(a.lacksTime(req, task, before), a.lacksProgram(task)); why != "" {
		return a.leave(why), nil
	}
	if req.WasBusy { // somebody else has most likely left a result, which takes no room on the machine
		if hit, err := artifacts.Lookup(ctx, a.Store, req.Key); err != nil || hit != nil && hit.Origin.RunID != req.RunID && !plan.IsStale(hit.Finished, req.Fresh, began(req.RunID)) {
			return hitOf(hit), err
		}
	}
	of, give, err := a.admit(ctx, req, task, before.Tries)
	defer give()
	if err != nil {
		return executed{}, err
	}
	if of.unfit != "" {
		return a.leave(of.unfit), nil
	}
	held, other, err := a.Leases.Take(ctx, req.Key, claim(ctx, req.RunID, req.Address))
	if err != nil {
		return executed{}, err
	}
	if other != nil {
		a.Log.Info("it is being worked on already; waiting for that", "step", req.Address, "by", other.String())
		return executed{Outcome: workflows.Outcome{Status: runs.Waiting, NotHere: &workflows.NotHere{Why: bounded(other.String(), maxNote), Busy: true}}}, nil
	}
	defer held.Release()
	if begun, ok := ctx.Value(begunKey{}).(func(context.Context)); ok {
		begun(ctx)
	}
	done, err := a.work(ctx, req, task, of)
	if is[*compute.ProgramError](err) && !a.OnlyWorker && ctx.Err() == nil {
		return a.leave(err.Error()), nil
	}
	return done, err
}

// leave leaves a step to another worker, and says why. It is no error, of which a step may have only so many while
// the right worker is busy.
func (a *Activities) leave(why string) executed {
	return executed{Outcome: workflows.Outcome{Status: runs.Waiting, NotHere: &workflows.NotHere{Why: bounded(why, maxError) + " (" + runs.Place(a.Env) + ")"}}}
}

// lacksTime returns why this worker will not end a step in time; "" if it may. A step that ran until an earlier
// worker ended is taken to need a quarter more, since most workers have as much time as that one.
func (a *Activities) lacksTime(req workflows.ExecuteRequest, task step.Task, before runs.Failure) string {
	spec := a.Registry.Lookup(task.Kind)
	if a.Fits == nil || spec != nil && spec.Resumes {
		return ""
	}
	says, took := "may take", req.Resources.For(before.Tries).Time
	if req.TookS != nil {
		says, took = "took", time.Duration(*req.TookS*float64(time.Second))
	}
	ran := time.Duration(before.NeedsS * float64(time.Second))
	switch needs := ran + ran/4; {
	case needs > 0 && !a.Fits(needs) && before.Cut > 1:
		return fmt.Sprintf("UNFIT for workers that end so soon: %d ended before it did, which had run for %s; give one a longer --until, and its job a longer limit", before.Cut, ran.Round(time.Second))
	case needs > 0 && !a.Fits(needs):
		return fmt.Sprintf("it needs more than the %s after which its last worker ended, and this worker has not much more left", ran.Round(time.Second))
	case took == 0 || a.Fits(took):
		return ""
	}
	return fmt.Sprintf("it %s %s, which is longer than this worker has left", says, took.Round(time.Second))
}

func hitOf(hit *artifacts.Result) executed {
	if hit == nil {
		return executed{}
	}
	return executed{workflows.Outcome{Status: runs.Hit, Key: hit.Key, TookS: hit.Took.Seconds()}, hit}
}

// work finds the result of a task, or computes and publishes it.
func (a *Activities) work(ctx context.Context, req workflows.ExecuteRequest, task step.Task, of admitted) (executed, error) {
	hit, err := artifacts.Lookup(ctx, a.Store, req.Key)
	if err != nil {
		return executed{}, err
	}
	stale := hit != nil && plan.IsStale(hit.Finished, req.Fresh, began(req.RunID))
	if stale { // it stays until there is a new one
		hit = nil
	}
	if hit != nil && (req.RunID == "" || hit.Origin.RunID != req.RunID || hit.Origin.Step != req.Address) {
		return hitOf(hit), nil
	}
	spec, err := a.kindOf(req, task)
	if err != nil {
		return executed{}, err
	}
	if hit != nil { // by an attempt of this run that was lost before it could answer
		key, pins, err := a.filePinned(ctx, spec, task, *hit)
		return executed{workflows.Outcome{Status: runs.Ran, Key: key, TookS: hit.Took.Seconds(), Pins: pins}, hit}, err
	}
	key, preimage, err := a.Registry.Key(task)
	if err != nil {
		return executed{}, step.Permanent(err)
	}
	if key != req.Key {
		return executed{}, step.Permanent(fmt.Errorf(
			"this worker gives %s the key %s, the run asked for %s: their versions of kind %s differ", req.Address, key, req.Key, task.Kind))
	}
	parts, err := a.partResults(ctx, req.Parts)
	if err != nil {
		return executed{}, err
	}
	log := &stepLog{}
	ticks := time.NewTicker(liveEvery)
	defer ticks.Stop()
	defer a.showLive(ctx, req.Key, log, ticks.C)()
	did, err := a.run(ctx, req, spec, task, parts, of, log, true)
	if err == nil && a.Told != nil && a.Told() {
		err = errors.New("the batch system was ending this worker's job, and maybe the step's program: what that left does not count")
	}
	if err = of.explained(ctx, err, did.Used); err != nil {
		a.keepFailure(ctx, req, of, did.took, log, err)
		return executed{}, err
	}
	did.Env = of.notes(did.Env)
	res := did.result(key, preimage, parts)
	res.Origin, res.Log = artifacts.Origin{RunID: req.RunID, Step: req.Address}, log.keep(ctx, a, req.Address)
	if activity.IsActivity(ctx) {
		res.Origin.WorkflowID = activity.GetInfo(ctx).WorkflowExecution.ID
	}
	if stale {
		if err := artifacts.DropResult(ctx, a.Store.Own, req.Key); err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			return executed{}, err
		}
	}
	won, differs, err := artifacts.Publish(ctx, a.Store, res)
	if err != nil {
		return executed{}, err
	}
	if differs {
		a.Log.Warn("not deterministic: this run's outputs differ from the first result's; both are recorded", "step", req.Address, "key", key.Hex())
	}
	key, pins, err := a.filePinned(ctx, spec, task, *won)
	if err != nil {
		return executed{}, err
	}
	if err := a.checkpoints(req.Key).Clear(ctx); err != nil {
		a.Log.Warn("could not remove a finished step's checkpoints", "step", req.Address, "err", err)
	}
	return executed{workflows.Outcome{Status: runs.Ran, Key: key, TookS: res.Took.Seconds(), Pins: pins}, won}, nil
}

// task reads the bound task of a request and finds its kind.
func (a *Activities) task(ctx context.Context, req workflows.ExecuteRequest) (step.Task, *step.Spec, error) {
	var t step.Task
	b, err := artifacts.ReadBlob(ctx, a.Store, req.Task, artifacts.AnySize)
	if err == nil {
		err = values.Written(b, &t)
	}
	if err != nil {
		return t, nil, fmt.Errorf("task of %s: %w", req.Address, err)
	}
	spec, err := a.kindOf(req, t)
	return t, spec, err
}

func (a *Activities) kindOf(req workflows.ExecuteRequest, t step.Task) (*step.Spec, error) {
	spec := a.Registry.Lookup(t.Kind)
	if spec == nil {
		return nil, step.Permanent(fmt.Errorf("%s: no kind %q in this build", req.Address, t.Kind))
	}
	return spec, nil
}

// begunKey is the context's key for a function that is called when work has what it asks for, and begins.
type begunKey struct{}

// lacksProgram returns why this worker does not have the program that a step needs; "" if it has it.
func (a *Activities) lacksProgram(task step.Task) string {
	if a.Lacks == nil {
		return ""
	}
	spec := a.Registry.Lookup(task.Kind)
	tree, err := task.Tree()
	if spec == nil || err != nil {
		return "" // work reports the error
	}
	if elsewhere, err := spec.Elsewhere(tree); err != nil || !elsewhere {
		return ""
	}
	return a.Lacks.Error()
}

// checked returns the failure of a step whose result fails one of its checks. The result is kept: checks are in no
// key, and another run may have others.
func (a *Activities) checked(ctx context.Context, open step.Opener, address string, task step.Task, r *artifacts.Result) error {
	if len(task.Checks) == 0 {
		return nil
	}
	stops, warnings, err := task.Problems(ctx, r, open)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		a.Log.Warn(w, "step", address)
	}
	if len(stops) == 0 {
		return nil
	}
	return step.Permanent(errors.New(strings.Join(stops, "; ") + "; its result is kept, and nothing that reads it runs"))
}

// filePinned files a result also under the key that its pinned sources give it, so that the next plan finds it, and
// returns that key. An accepted result is filed under no other key, for which nobody accepted it.
func (a *Activities) filePinned(ctx context.Context, spec *step.Spec, task step.Task, res artifacts.Result) (artifacts.Digest, []step.Pin, error) {
	pins, err := spec.Pins(task, res.Outputs)
	if err != nil || len(pins) == 0 {
		return res.Key, nil, err
	}
	if res.Origin.Accepted != "" {
		return res.Key, pins, nil
	}
	found := pinned{pins: lists.By(pins, func(p step.Pin) string { return p.Source })}
	settled, err := a.Registry.Resolved(ctx, found, task)
	if err != nil {
		return res.Key, nil, fmt.Errorf("pin the sources of %s: %w", res.Origin.Step, err)
	}
	key, preimage, err := a.Registry.Key(settled)
	if err != nil || key == res.Key {
		return key, pins, err
	}
	res.Key, res.Preimage = key, preimage
	_, _, err = artifacts.Publish(ctx, a.Store, res)
	return key, pins, err
}

// pinned is Sources with the pins that one run has just found out, by source.
type pinned struct {
	step.NoSources
	pins map[string]step.Pin
}

func (ps pinned) Pinned(source string) (step.Pin, bool) {
	p, ok := ps.pins[source]
	return p, ok
}

func (ps pinned) LocalFile(_ context.Context, path string) (step.Pin, error) {
	if p, ok := ps.Pinned(path); ok {
		return p, nil
	}
	return step.Pin{}, fmt.Errorf("%s was not read by this step", path)
}
