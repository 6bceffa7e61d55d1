package session

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// PartsOf are those of a preview's steps of which the store has parts, by place in the plan. It
// reads no bytes of artifacts: of a step whose parts follow from some, nothing is said. Of one
// that waits, it finds parts by what is there of the steps before it.
func (se *Session) PartsOf(ctx context.Context, store artifacts.Store, v *plan.Preview) (map[int]plan.Parts, error) {
	found := map[int]plan.Parts{}
	known := map[int]*artifacts.Result{} // by place: of hits, and of others as far as their outputs are there
	cut := map[artifacts.Digest]bool{}   // outputs of others
	var cutting []int
	var hits []artifacts.Digest // that they read
	for i, it := range v.Items {
		s := v.Plan.Steps[i]
		if spec := se.Registry.Lookup(s.Task.Kind); it.Outcome == plan.Hit || s.Pending() || spec == nil || !spec.Splits() {
			continue
		}
		cutting = append(cutting, i)
		for _, d := range s.Deps {
			if v.Items[d].Outcome == plan.Hit {
				hits = append(hits, v.Items[d].Key)
			}
		}
	}
	results, err := artifacts.LookupMany(ctx, store, hits)
	if err != nil {
		return nil, err
	}
	for _, i := range cutting {
		spec, whole := se.Registry.Lookup(v.Plan.Steps[i].Task.Kind), true
		for _, d := range v.Plan.Steps[i].Deps {
			if r := results[v.Items[d].Key]; r != nil {
				known[d] = r
			}
			whole = whole && v.Items[d].Outcome == plan.Hit
		}
		task, _, _, err := v.Plan.Bind(se.Registry, i, func(d int) *artifacts.Result { return known[d] })
		if err != nil {
			continue // too little is there
		}
		parts, outputs, err := se.partsOf(ctx, store, spec, task, cut)
		if err != nil {
			return nil, err
		}
		p := plan.Parts{Of: len(parts)}
		for _, r := range parts {
			if r != nil {
				p.There++
			}
		}
		if !whole {
			p.Of = 0
		}
		if len(outputs) > 0 {
			known[i] = &artifacts.Result{Outputs: outputs}
		}
		for _, a := range outputs {
			cut[a.Digest] = true
		}
		if p.There > 0 {
			found[i] = p
		}
	}
	return found, nil
}

// partsOf are the results of a task's parts, nil of those that have none, and the outputs that
// are known by them. A part that reads a tree of which some is not there yet has none: it will
// read another tree.
func (se *Session) partsOf(ctx context.Context, store artifacts.Store, spec *step.Spec, task step.Task, cut map[artifacts.Digest]bool) (parts []*artifacts.Result, outputs map[string]artifacts.Artifact, err error) {
	tree, err := task.Tree()
	if err != nil {
		return nil, nil, err
	}
	x := step.NewIO(ctx, spec, unread{}, slog.New(slog.DiscardHandler), nil)
	var tasks []step.Task
	if err := stepio.Guard(func() (err error) { tasks, err = spec.Split(ctx, x, tree); return err }); err != nil {
		return nil, nil, ctx.Err() // a run says so
	}
	keys := make([]artifacts.Digest, len(tasks)) // zero of what reads too little
	for n, t := range tasks {
		other := false
		if err = plan.InputsOf(t, func(_ string, in step.Input) { other = other || in.Artifact != nil && cut[in.Artifact.Digest] }); err != nil {
			return nil, nil, err
		}
		if !other {
			if keys[n], _, err = se.Registry.Key(t); err != nil {
				return nil, nil, err
			}
		}
	}
	results, err := artifacts.LookupMany(ctx, store, slices.DeleteFunc(slices.Clone(keys), artifacts.Digest.IsZero))
	if err != nil {
		return nil, nil, err
	}
	for _, k := range keys {
		parts = append(parts, results[k])
	}
	files, err := spec.Known(x, tree, parts)
	if err != nil || len(results) == 0 {
		return parts, nil, err
	}
	outputs = map[string]artifacts.Artifact{}
	for _, o := range spec.Outputs {
		if list := files[o.Name]; len(list) > 0 {
			if outputs[o.Name], err = artifacts.Tree(o.Type, list); err != nil {
				return nil, nil, err
			}
		}
	}
	return parts, outputs, nil
}

// unread is a host of kinds that are asked for their parts alone: it has no bytes.
type unread struct{ step.Host }

var errUnread = errors.New("a plan reads no artifacts")

func (unread) Open(context.Context, artifacts.Digest) (io.ReadCloser, error) { return nil, errUnread }
func (unread) LocalPath(context.Context, artifacts.Digest) (string, error)   { return "", errUnread }
