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

// PartsOf counts, by place, the parts of a preview's steps that the store has, except parts that follow from bytes.
func (se *Session) PartsOf(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) (map[int]plan.Parts, error) {
	found := map[int]plan.Parts{}
	inputs := map[int]*artifacts.Result{} // by place: of hits, and of other steps with the outputs that are there
	some := map[artifacts.Digest]bool{}   // outputs of others
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
	for len(cutting) > 0 {
		var now []*divided
		var keys []artifacts.Digest
		thisRound, later := map[int]bool{}, []int(nil)
		for _, i := range cutting {
			after := slices.ContainsFunc(v.Plan.Steps[i].Deps, func(d int) bool { return thisRound[d] })
			if thisRound[i] = true; after {
				later = append(later, i)
				continue
			}
			complete := true
			for _, d := range v.Plan.Steps[i].Deps {
				if r := results[v.Items[d].Key]; r != nil {
					inputs[d] = r
				}
				complete = complete && v.Items[d].Outcome == plan.Hit
			}
			task, _, _, err := v.Plan.Bind(se.Registry, i, func(d int) *artifacts.Result { return inputs[d] })
			if err != nil {
				continue // too little is there
			}
			d := &divided{place: i, spec: se.Registry.Lookup(task.Kind), complete: complete}
			if err := d.divide(ctx, se.Registry, task, some); err != nil {
				return nil, err
			}
			now = append(now, d)
			keys = append(keys, slices.DeleteFunc(slices.Clone(d.keys), artifacts.Digest.IsZero)...)
		}
		parts, err := artifacts.LookupMany(ctx, store, keys)
		if err != nil {
			return nil, err
		}
		for _, d := range now {
			p, outputs, err := d.there(parts)
			if err != nil {
				return nil, err
			}
			if p.There == 0 {
				continue
			}
			found[d.place], inputs[d.place] = p, &artifacts.Result{Outputs: outputs}
			for _, a := range outputs {
				some[a.Digest] = true
			}
		}
		cutting = later
	}
	return found, nil
}

type divided struct {
	place    int // in the plan
	spec     *step.Spec
	complete bool // everything that it reads is there
	io       *step.IO
	tree     map[string]any
	keys     []artifacts.Digest // of its parts; zero if the part reads a tree that is incomplete so far: it will read another
}

// divide finds the keys of a task's parts; none if they follow from bytes.
func (d *divided) divide(ctx context.Context, reg *step.Registry, task step.Task, some map[artifacts.Digest]bool) (err error) {
	if d.tree, err = task.Tree(); err != nil {
		return err
	}
	d.io = step.NewIO(ctx, d.spec, unread{}, slog.New(slog.DiscardHandler), nil)
	var tasks []step.Task
	if err := stepio.Guard(func() (err error) { tasks, err = d.spec.Split(ctx, d.io, d.tree); return err }); err != nil {
		return ctx.Err() // a run says so
	}
	d.keys = make([]artifacts.Digest, len(tasks))
	for n, t := range tasks {
		other := false
		if err = plan.InputsOf(t, func(_ string, in step.Input) { other = other || in.Artifact != nil && some[in.Artifact.Digest] }); err != nil {
			return err
		}
		if !other {
			if d.keys[n], _, err = reg.Key(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// there counts the parts that have results, and builds the outputs that follow from these.
func (d *divided) there(results map[artifacts.Digest]*artifacts.Result) (p plan.Parts, outputs map[string]artifacts.Artifact, err error) {
	var parts []*artifacts.Result // nil without a result
	for _, k := range d.keys {
		parts = append(parts, results[k])
		if results[k] != nil {
			p.There++
		}
	}
	if d.complete {
		p.Of = len(parts)
	}
	if p.There == 0 {
		return p, nil, nil
	}
	files, err := d.spec.Known(d.io, d.tree, parts)
	outputs = map[string]artifacts.Artifact{}
	for _, o := range d.spec.Outputs {
		if list := files[o.Name]; err == nil && len(list) > 0 {
			outputs[o.Name], err = artifacts.Tree(o.Type, list)
		}
	}
	return p, outputs, err
}

// unread is a host of kinds that are only asked for their parts: it has no bytes.
type unread struct{ step.Host }

var errUnread = errors.New("a plan reads no artifacts")

func (unread) Open(context.Context, artifacts.Digest) (io.ReadCloser, error) { return nil, errUnread }
func (unread) LocalPath(context.Context, artifacts.Digest) (string, error)   { return "", errUnread }
