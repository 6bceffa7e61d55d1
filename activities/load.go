package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/step"
	"github.com/redsi/redsi/workflows"
)

// StorePlan keeps a plan as a blob and returns its digest.
func StorePlan(ctx context.Context, blobs artifacts.Blobs, p *plan.Plan) (artifacts.Digest, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return artifacts.Digest{}, err
	}
	d, _, err := blobs.Put(ctx, bytes.NewReader(b))
	return d, err
}

// Load returns the skeleton of a plan: one that is stored already, or the one
// that a pipeline file on this worker makes.
func (a *Activities) Load(ctx context.Context, req workflows.LoadRequest) (workflows.Loaded, error) {
	return attempt(ctx, a, func(ctx context.Context, _ *pulse) (workflows.Loaded, error) { return a.load(ctx, req) })
}

func (a *Activities) load(ctx context.Context, req workflows.LoadRequest) (workflows.Loaded, error) {
	var p *plan.Plan
	var digest artifacts.Digest
	var err error
	if req.Plan != nil {
		digest = *req.Plan
		p, err = a.storedPlan(ctx, digest)
	} else {
		var lock string
		if p, lock, err = a.Open(ctx, req.Pipeline, req.Vars, req.Targets); err != nil {
			return workflows.Loaded{}, step.Permanent(err)
		}
		if digest, err = StorePlan(ctx, a.Store.Blobs, p); err == nil {
			a.keep(digest, p)
			a.mu.Lock()
			if a.locks == nil {
				a.locks = map[artifacts.Digest]string{}
			}
			a.locks[digest] = lock
			a.mu.Unlock()
		}
	}
	if err != nil {
		return workflows.Loaded{}, err
	}
	preview, err := p.Preview(ctx, a.Registry, a.lookup)
	if err != nil {
		return workflows.Loaded{}, step.Permanent(err)
	}
	out := workflows.Loaded{Plan: digest, Name: p.Pipeline, Features: a.Features}
	for i, s := range p.Steps {
		spec := a.Registry.Lookup(s.Task.Kind)
		if spec == nil {
			return out, step.Permanent(fmt.Errorf("%s: this worker has no kind %q; it is older or newer than the client", s.Address, s.Task.Kind))
		}
		out.Steps = append(out.Steps, workflows.Head{Address: s.Address, Kind: s.Task.Kind, Deps: s.Deps,
			Queue: s.Queue, Inline: s.Inline, Splits: spec.Splits()})
		if it := preview.Items[i]; it.Outcome == plan.Hit {
			out.Hits = append(out.Hits, workflows.DoneStep{Index: i, Key: it.Key, Hit: true})
		}
	}
	return out, nil
}

func (a *Activities) lookup(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
	return artifacts.LookupMany(ctx, a.Store, keys)
}

// Prepare binds the inputs of steps whose dependencies have results, stores the
// bound tasks, and looks their keys up, all in two batches.
func (a *Activities) Prepare(ctx context.Context, req workflows.PrepareRequest) ([]workflows.Prepared, error) {
	return attempt(ctx, a, func(ctx context.Context, _ *pulse) ([]workflows.Prepared, error) { return a.prepare(ctx, req) })
}

func (a *Activities) prepare(ctx context.Context, req workflows.PrepareRequest) ([]workflows.Prepared, error) {
	p, err := a.storedPlan(ctx, req.Plan)
	if err != nil {
		return nil, err
	}
	var keys []artifacts.Digest
	for _, s := range req.Steps {
		keys = append(keys, s.Deps...)
	}
	deps, err := a.lookup(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([]workflows.Prepared, len(req.Steps))
	keys = keys[:0]
	for n, s := range req.Steps {
		out[n] = a.prepareOne(ctx, p, s, deps)
		if out[n].Error == "" && len(out[n].Lost) == 0 {
			keys = append(keys, out[n].Key)
		}
	}
	found, err := a.lookup(ctx, keys)
	if err != nil {
		return nil, err
	}
	for n := range out {
		if r := found[out[n].Key]; r != nil {
			out[n].Hit, out[n].TookS = true, r.Took.Seconds()
		}
	}
	return out, nil
}

func (a *Activities) prepareOne(ctx context.Context, p *plan.Plan, s workflows.Ready, deps map[artifacts.Digest]*artifacts.Result) workflows.Prepared {
	out := workflows.Prepared{Index: s.Index}
	at := make(map[int]artifacts.Digest, len(s.Deps))
	for n, d := range p.Steps[s.Index].Deps {
		at[d] = s.Deps[n]
		if deps[s.Deps[n]] == nil {
			out.Lost = append(out.Lost, d)
		}
	}
	if len(out.Lost) > 0 {
		return out
	}
	task, key, _, err := p.Bind(a.Registry, s.Index, func(d int) *artifacts.Result { return deps[at[d]] })
	if err == nil {
		out.Key = key
		out.Task, err = a.storeTask(ctx, task)
	}
	if err != nil {
		out.Error = errorText(err)
	}
	return out
}

func (a *Activities) storeTask(ctx context.Context, t step.Task) (artifacts.Digest, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return artifacts.Digest{}, err
	}
	d, _, err := a.Store.Blobs.Put(ctx, bytes.NewReader(b))
	return d, err
}

// lost reports whether err says that stored bytes are gone or wrong.
func lost(err error) bool {
	var bad *artifacts.IntegrityError
	return errors.As(err, &bad) || errors.Is(err, artifacts.ErrNotExist)
}
