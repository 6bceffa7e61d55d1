package activities

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// done is what a run of a kind left.
type done struct {
	stepio.Outcome               // Used without its parts
	took           time.Duration // without its parts, without waiting for a card or being stopped
}

// result returns the result of a run and its parts, without origin and log.
func (d done) result(key artifacts.Digest, preimage []byte, parts []artifacts.Result) artifacts.Result {
	r := artifacts.Result{Key: key, Preimage: preimage, Outputs: d.Outputs, Took: d.took, Used: d.Used.With(parts),
		Finished: time.Now().UTC(), Counts: d.Counts, Env: d.Env, Kept: d.Kept}
	for _, p := range parts {
		r.Took += p.Took
	}
	return r
}

// run runs a kind, and turns a panic, our own bug, into an error. It writes the step's words to log. of is what the
// step has of the machine, and for how long. With onward, the step may continue from states that others of its
// trajectory kept.
func (a *Activities) run(ctx context.Context, req workflows.ExecuteRequest, spec *step.Spec, task step.Task, parts []artifacts.Result, of admitted, log *stepLog, onward bool) (d done, err error) {
	clock := usage.StartClock()
	defer clock.Stop()
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
	d.took = max(0, clock.Ran()-waited)
	env := map[string]string{}
	maps.Copy(env, a.Env)
	maps.Copy(env, d.Env)
	d.Env = env
	return d, err
}

func (a *Activities) newHost(ctx context.Context, key artifacts.Digest) *stepio.Host {
	return &stepio.Host{Store: a.Store, CacheDir: a.CacheDir, Areas: a.Scratch, Log: a.Log, Telemetry: a.Telemetry, Key: key, Progress: step.Reporter(ctx)}
}

func (a *Activities) checkpoints(key artifacts.Digest) *stepio.Checkpoints {
	return stepio.CheckpointsOf(a.Store.Own, key, a.Log)
}

// elsewhere has a process of the second program compute a step, on the card that the step asks for, and returns how
// long it waited for the card.
func (a *Activities) elsewhere(ctx context.Context, of admitted, spec *step.Spec, tree map[string]any, t compute.Task, log *slog.Logger, said io.Writer) (o stepio.Outcome, waited time.Duration, err error) {
	name, err := spec.DeviceOf(tree)
	if err != nil {
		return o, 0, step.Permanent(err)
	}
	cards, err := a.Models.Cards(ctx)
	if err != nil {
		return o, 0, err
	}
	card, waited, give, err := device.Choose(ctx, a.Room, name, cards.Cards)
	defer give()
	if err != nil {
		return o, waited, err
	}
	if name == "auto" && card == device.Processors && a.OnNoCard != nil {
		a.OnNoCard(cards.Why)
	}
	if err := artifacts.Have(ctx, a.Store, inputs(tree, t.Parts)); err != nil {
		return o, waited, err
	}
	err = of.within(ctx, func(ctx context.Context) (err error) {
		o, err = a.Models.Run(ctx, t, a.Store.Own.URL, card, log, said)
		return err
	})
	if n := a.Models.Deaths(t.Key); n >= deadliest {
		err = &deadly{err, n}
	}
	return o, waited, err
}

// inputs returns the blobs that a task may read.
func inputs(tree map[string]any, parts []artifacts.Result) (all []artifacts.Digest) {
	_, err := step.MapInputs(tree, func(_ string, in step.Input) (step.Input, error) {
		if in.Artifact != nil {
			all = append(all, in.Artifact.Blobs()...)
		}
		return in, nil
	})
	if err != nil {
		panic(err) // of the function above
	}
	for _, p := range parts {
		for _, art := range p.Outputs {
			all = append(all, art.Blobs()...)
		}
	}
	return all
}

// Split cuts a task into parts, stores them and looks their keys up.
func (a *Activities) Split(ctx context.Context, req workflows.ExecuteRequest) (none workflows.Pages[workflows.Part], err error) {
	task, spec, err := a.task(ctx, req)
	if err != nil {
		return none, err
	}
	tasks, err := a.pieces(ctx, req, spec, task)
	if err != nil {
		return none, err
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
	return PagesOf(ctx, a.Store.Own.Blobs, parts)
}

// PartKeys returns the keys of the tasks that a task is cut into.
func (a *Activities) PartKeys(ctx context.Context, key artifacts.Digest, task step.Task) ([]artifacts.Digest, error) {
	pieces, err := a.pieces(ctx, workflows.ExecuteRequest{Key: key}, a.Registry.Lookup(task.Kind), task)
	if err != nil {
		return nil, err
	}
	keys := make([]artifacts.Digest, len(pieces))
	for i, p := range pieces {
		if keys[i], _, err = a.Registry.Key(p); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// pieces cuts a task into parts; none for kinds that do not split.
func (a *Activities) pieces(ctx context.Context, req workflows.ExecuteRequest, spec *step.Spec, task step.Task) (tasks []step.Task, err error) {
	if !spec.Splits() {
		return nil, nil
	}
	tree, err := task.Tree()
	if err != nil {
		return nil, step.Permanent(err)
	}
	err = stepio.Guard(func() error {
		tasks, err = spec.Split(ctx, step.NewIO(ctx, spec, a.newHost(ctx, req.Key), a.Log, nil), tree)
		return err
	})
	return tasks, err
}
