package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Execute does a part of a step, or a step whose parts are done.
func (a *Activities) Execute(ctx context.Context, req workflows.ExecuteRequest) (workflows.Outcome, error) {
	out, err := attempt(ctx, a, func(ctx context.Context, _ *pulse) (workflows.Outcome, error) {
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

// executeTask returns the result of a task, running it if there is none, and tells that it does. It is the
// only place where work happens and where results are published: blobs first,
// the record last, the first writer wins. Errors are never cached.
func (a *Activities) executeTask(ctx context.Context, req workflows.ExecuteRequest, task step.Task) (executed, error) {
	kind := "unknown" // a label is one of few
	if spec := a.Registry.Lookup(task.Kind); spec != nil {
		kind = spec.Name
	}
	ctx, end := a.Telemetry.Begin(ctx, telemetry.Step{Kind: kind, Address: req.Address, Key: req.Key.Hex(), Run: req.RunID})
	done, err := a.executeLeased(ctx, req, task)
	if err == nil && done.result != nil {
		if err = a.checked(ctx, a.Store.Blobs.Open, req.Address, task, done.result); err != nil {
			done = executed{}
		}
	}
	end(outcome(ctx, done, err))
	return done, err
}

// outcome is what telemetry gets of a step.
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

// executeLeased does the work under a lease: of those who want it, one works on it and the others are told so.
func (a *Activities) executeLeased(ctx context.Context, req workflows.ExecuteRequest, task step.Task) (executed, error) {
	if why := cmp.Or(a.lacksTime(req, task), a.lacksProgram(task)); why != "" {
		return a.leave(why), nil
	}
	if req.WasBusy { // the other one has most likely left a result, which takes no room on the machine
		if hit, err := artifacts.Lookup(ctx, a.Store, req.Key); err != nil || hit != nil && hit.Origin.RunID != req.RunID {
			return hitOf(hit), err
		}
	}
	of, give, err := a.admit(ctx, req, task)
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

// leave leaves a step to another worker, and says why. It is no error, which could be one too
// many while the right worker is busy.
func (a *Activities) leave(why string) executed {
	return executed{Outcome: workflows.Outcome{Status: runs.Waiting, NotHere: &workflows.NotHere{Why: bounded(why, maxError) + " (" + a.Env["host"] + ")"}}}
}

// lacksTime says why this worker will not end a step in time; "" if it may.
func (a *Activities) lacksTime(req workflows.ExecuteRequest, task step.Task) string {
	says, took := "may take", req.Resources.For(0).Time
	if req.TookS != nil {
		says, took = "took", time.Duration(*req.TookS*float64(time.Second))
	}
	spec := a.Registry.Lookup(task.Kind)
	if a.Fits == nil || took == 0 || a.Fits(took) || spec != nil && spec.Resumes {
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

// work finds the result of a task, or makes and publishes it.
func (a *Activities) work(ctx context.Context, req workflows.ExecuteRequest, task step.Task, of admitted) (executed, error) {
	hit, err := artifacts.Lookup(ctx, a.Store, req.Key)
	if err != nil {
		return executed{}, err
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
	if err = of.explained(ctx, err, did.Used); err != nil {
		a.keepFailure(ctx, req, of, did.took, log, err)
		return executed{}, a.dropCorrupt(ctx, err)
	}
	did.Env = of.notes(did.Env)
	res := did.result(key, preimage, parts)
	res.Origin, res.Log = a.origin(ctx, req), log.keep(ctx, a, req.Address)
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

func (a *Activities) origin(ctx context.Context, req workflows.ExecuteRequest) artifacts.Origin {
	o := artifacts.Origin{RunID: req.RunID, Step: req.Address}
	if activity.IsActivity(ctx) {
		o.WorkflowID = activity.GetInfo(ctx).WorkflowExecution.ID
	}
	return o
}

// task reads the bound task and finds its kind.
func (a *Activities) task(ctx context.Context, req workflows.ExecuteRequest) (step.Task, *step.Spec, error) {
	var t step.Task
	if err := readJSON(ctx, a.Store.Blobs, req.Task, &t); err != nil {
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

func (a *Activities) partResults(ctx context.Context, list workflows.Pages[artifacts.Digest]) ([]artifacts.Result, error) {
	keys, err := rowsOf(ctx, a, list)
	if err != nil {
		return nil, err
	}
	found, err := artifacts.LookupMany(ctx, a.Store, keys)
	if err != nil {
		return nil, err
	}
	parts := make([]artifacts.Result, len(keys))
	for i, k := range keys {
		if found[k] == nil {
			return nil, fmt.Errorf("part %d: result %s: %w", i, k, artifacts.ErrNotExist)
		}
		parts[i] = *found[k]
	}
	return parts, nil
}

// done is what a run of a kind left.
type done struct {
	stepio.Outcome               // its Used without its parts
	took           time.Duration // likewise; waiting for a card is none of it
}

// result is what a run and its parts leave, but for its origin and its log.
func (d done) result(key artifacts.Digest, preimage []byte, parts []artifacts.Result) artifacts.Result {
	r := artifacts.Result{Key: key, Preimage: preimage, Outputs: d.Outputs, Took: d.took, Used: d.Used.With(parts),
		Finished: time.Now().UTC(), Counts: d.Counts, Env: d.Env, Kept: d.Kept}
	for _, p := range parts {
		r.Took += p.Took
	}
	return r
}

// run runs a kind, turning a panic in it, our own bug, into an error. What it says is
// written to log. of is what it has of the machine, and for how long. onward: it may continue from what others of its trajectory kept.
func (a *Activities) run(ctx context.Context, req workflows.ExecuteRequest, spec *step.Spec, task step.Task, parts []artifacts.Result, of admitted, log *stepLog, onward bool) (d done, err error) {
	began := time.Now()
	tree, err := task.Tree()
	if err != nil {
		return d, step.Permanent(err)
	}
	elsewhere, err := spec.Elsewhere(tree)
	if err != nil {
		return d, step.Permanent(err)
	}
	var path *artifacts.Digest
	if key, ok, err := a.Registry.Trajectory(task); err != nil {
		return d, step.Permanent(err)
	} else if ok && onward {
		path = &key
	}
	says := log.logger(a.Log.With("step", req.Address))
	if a.Cores != nil {
		defer a.Cores.Take(spec.Needs == step.Libtorch)()
	}
	var waited time.Duration
	if elsewhere {
		d.Outcome, waited, err = a.elsewhere(ctx, of, spec, tree, compute.Task{Step: req.Address, Key: req.Key, Trajectory: path, Task: task, Parts: parts}, says, log)
	} else {
		host := a.newHost(ctx, req.Key)
		host.Path = path
		err = of.within(ctx, func(ctx context.Context) (err error) {
			io := step.NewIO(ctx, spec, host, says, parts)
			io.Cache, io.Secrets, io.Stderr, io.Granted = a.CacheDir, a.Secrets, log, of.Granted
			d.Outcome, err = stepio.Do(ctx, io, spec, tree, a.Usage.Begin().End)
			return err
		})
	}
	d.took = time.Since(began) - waited
	env := map[string]string{}
	maps.Copy(env, a.Env)
	maps.Copy(env, d.Env)
	d.Env = env
	return d, err
}

// Split cuts a task into parts, stores them and looks their keys up.
func (a *Activities) Split(ctx context.Context, req workflows.ExecuteRequest) (none workflows.Pages[workflows.Part], err error) {
	task, spec, err := a.task(ctx, req)
	if err != nil {
		return none, err
	}
	tasks, err := a.pieces(ctx, req, spec, task)
	if err != nil {
		return none, a.dropCorrupt(ctx, err)
	}
	parts := make([]workflows.Part, len(tasks))
	keys := make([]artifacts.Digest, len(tasks))
	for i, t := range tasks {
		if a.Registry.Lookup(t.Kind) == nil {
			return none, step.Permanent(fmt.Errorf("kind %s split into %q, which is not listed", spec.Name, t.Kind))
		}
		key, _, err := a.Registry.Key(t)
		if err != nil {
			return none, step.Permanent(err)
		}
		digest, err := a.storeTask(ctx, t)
		if err != nil {
			return none, err
		}
		keys[i] = key
		parts[i] = workflows.Part{Key: key, Task: digest, Kind: t.Kind, Label: fmt.Sprintf("%s %d of %d", t.Kind, i+1, len(tasks)), OneByOne: spec.OneByOne}
	}
	found, err := artifacts.LookupMany(ctx, a.Store, keys)
	if err != nil {
		return none, err
	}
	for i := range parts {
		parts[i].Hit = found[parts[i].Key] != nil
	}
	return PagesOf(ctx, a.Store.Blobs, parts)
}

// filePinned files a result under the key that its pinned sources give it too,
// so that the next plan finds it, and returns that key. One that was accepted for its key
// is filed under no other: nobody accepted it for that.
func (a *Activities) filePinned(ctx context.Context, spec *step.Spec, task step.Task, res artifacts.Result) (artifacts.Digest, []step.Pin, error) {
	pins, err := spec.Pins(task, res.Outputs)
	if err != nil || len(pins) == 0 {
		return res.Key, nil, err
	}
	if res.Origin.Accepted != "" {
		return res.Key, pins, nil
	}
	known := pinned{pins: map[string]step.Pin{}}
	for _, p := range pins {
		known.pins[p.Source] = p
	}
	settled, err := a.Registry.Resolved(ctx, known, task)
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

// dropCorrupt removes a blob that does not have the bytes its digest says, so
// that its producer is known to have no result and runs again.
func (a *Activities) dropCorrupt(ctx context.Context, err error) error {
	bad, ok := errors.AsType[*artifacts.IntegrityError](err)
	switch {
	case !ok:
	case bad.Other: // the store has none of it
		a.Log.Warn("a blob from another store is corrupt and was not used; the step that makes it will run here", "blob", bad.Want, "where", bad.Where)
	default:
		if _, derr := a.drop(ctx, bad); derr != nil {
			return errors.Join(err, derr)
		}
	}
	return err
}

func (a *Activities) drop(ctx context.Context, bad *artifacts.IntegrityError) (dropped bool, err error) {
	if dropped, err = artifacts.DropCorrupt(ctx, a.Store.Blobs, bad.Want); dropped {
		a.Log.Warn("a corrupt blob was removed; its producer will run again", "blob", bad.Want)
	}
	return dropped, err
}

// sourceChanged reports whether err says that a file here has other bytes than the
// plan, and if so sees to it that no later plan of this machine is made from memory.
func (a *Activities) sourceChanged(err error) bool {
	changed, is := errors.AsType[*step.SourceChangedError](err)
	if is && a.Forget != nil {
		if err := a.Forget(changed.Path); err != nil {
			a.Log.Warn("could not forget the checksum of a changed file", "path", changed.Path, "err", err)
		}
	}
	return is
}
