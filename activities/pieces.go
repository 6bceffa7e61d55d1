package activities

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

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
