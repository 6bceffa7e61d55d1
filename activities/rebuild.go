package activities

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/device"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Rebuilt is how a step that was run again compares with its result.
type Rebuilt struct {
	Stands, Made *artifacts.Result
	Same         bool
	Clock        []string // outputs that differ in what they tell of their run alone, such as its seconds
}

// Rebuild runs a task, and the parts that it is cut into, although there is a
// result, with as many threads, and publishes what it leaves: the result that is there
// stays, one that differs is recorded as non-determinism. It needs no Temporal.
func (a *Activities) Rebuild(ctx context.Context, address string, key artifacts.Digest, task step.Task) (r Rebuilt, err error) {
	_, preimage, err := a.Registry.Key(task)
	if err != nil {
		return r, err
	}
	before, err := artifacts.Lookup(ctx, a.Store, key)
	if err != nil {
		return r, err
	}
	if before != nil && device.ThreadsMatter() {
		if n, err := strconv.Atoi(before.Env[step.NotePrefix+threadsNote]); err == nil {
			device.UseThreads(n)
		}
	}
	spec := a.Registry.Lookup(task.Kind)
	req := workflows.ExecuteRequest{Key: key, Address: address}
	pieces, err := a.pieces(ctx, req, spec, task)
	if err != nil {
		return r, err
	}
	parts := make([]artifacts.Result, len(pieces))
	for i, p := range pieces {
		label := fmt.Sprintf("%s, %s %d of %d", address, p.Kind, i+1, len(pieces))
		k, _, err := a.Registry.Key(p)
		if err != nil {
			return r, err
		}
		part, err := a.Rebuild(ctx, label, k, p)
		if err != nil {
			return r, err
		}
		parts[i] = *part.Made
	}
	began := time.Now()
	log := &stepLog{}
	did, err := a.run(ctx, req, spec, task, parts, log)
	if err != nil {
		a.sourceChanged(err)
		return r, a.dropCorrupt(ctx, fmt.Errorf("%s: %w", address, err))
	}
	r.Made = &artifacts.Result{Key: key, Preimage: preimage, Outputs: did.outputs, Took: time.Since(began), Used: did.used.With(parts),
		Finished: time.Now().UTC(), Counts: did.counts, Env: did.env, Origin: artifacts.Origin{Step: address}, Log: log.keep(ctx, a, address)}
	if before != nil {
		r.Stands = before
		if r.Same, r.Clock, err = a.alike(ctx, spec, before.Outputs, did.outputs); err != nil {
			return r, err
		}
	}
	if !r.Same {
		if r.Stands, _, err = artifacts.Publish(ctx, a.Store, *r.Made); err != nil {
			return r, err
		}
	}
	return r, a.checkpoints(key).Clear(ctx)
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
		return nil, err
	}
	err = guard(func() error {
		tasks, err = spec.Split(ctx, step.NewIO(ctx, spec, a.newHost(ctx, req.Key), a.Log, nil), tree)
		return err
	})
	return tasks, err
}
