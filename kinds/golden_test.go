package kinds_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// local runs plans in this process, without Temporal: the activities are the
// same functions.
type local struct {
	t *testing.T
	*activities.Activities
	ran []string // kinds and labels of the parts that were not hits
}

func newLocal(t *testing.T) *local {
	store := mem.New()
	return &local{t: t, Activities: &activities.Activities{Store: artifacts.Alone(store), Leases: lease.New(store.Leases, slog.New(slog.DiscardHandler)), Registry: allKinds(), Log: slog.New(slog.DiscardHandler), CacheDir: t.TempDir(), Scratch: scratch.In(t.TempDir())}}
}

// plan loads a pipeline file, with its local sources hashed.
func (l *local) plan(file string, vars map[string]string, targets ...string) *plan.Plan {
	l.t.Helper()
	src, err := syntax.Read(file)
	errtest.None(l.t, err)
	return l.planOf(file, l.load(src, vars), targets...)
}

// planSources finds programs too.
type planSources struct{ *lockfile.Sources }

func (planSources) Program(name string) (string, error) { return command.Find(name) }

// planOf is plan of what a file loads as.
func (l *local) planOf(file string, p *pipeline.Pipeline, targets ...string) *plan.Plan {
	l.t.Helper()
	pl, err := plan.Build(filepath.Base(file), p, l.Registry, targets)
	errtest.None(l.t, err)
	dir := filepath.Dir(file)
	sources, err := lockfile.Open(filepath.Join(dir, lockfile.Name), dir, "")
	errtest.None(l.t, err)
	for i, s := range pl.Steps {
		errtest.None(l.t, sources.From(filepath.Dir(s.Pos.File))) // of a module: its own
		pl.Steps[i].Task, err = l.Registry.Resolved(context.Background(), planSources{sources}, s.Task)
		errtest.None(l.t, err)
	}
	return pl
}

// exact is the plan of the steps that do not depend on a computed one, or on one whose
// address begins with one of without.
func (l *local) exact(file string, vars map[string]string, without ...string) *plan.Plan {
	l.t.Helper()
	whole := l.plan(file, vars)
	inexact := make([]bool, len(whole.Steps)) // steps follow their inputs
	var targets []string
	for i, s := range whole.Steps {
		inexact[i] = slices.Contains(computed, s.Task.Kind) || slices.ContainsFunc(without, func(p string) bool { return strings.HasPrefix(s.Address, p) }) || slices.ContainsFunc(s.Deps, func(d int) bool { return inexact[d] })
		if !inexact[i] {
			targets = append(targets, s.Address)
		}
	}
	return l.plan(file, vars, targets...)
}

// run does every step of a plan and returns its results in the plan's order.
func (l *local) run(pl *plan.Plan) []*artifacts.Result {
	l.t.Helper()
	results, err := l.try(pl)
	errtest.None(l.t, err)
	return results
}

// try is run until the first step that fails.
func (l *local) try(pl *plan.Plan) ([]*artifacts.Result, error) {
	l.t.Helper()
	ctx := context.Background()
	digest, err := plan.Store(ctx, l.Store.Own.Blobs, pl)
	errtest.None(l.t, err)
	keys := make([]artifacts.Digest, len(pl.Steps))
	results := make([]*artifacts.Result, len(pl.Steps))
	for i, s := range pl.Steps {
		var inputs []workflows.DoneStep
		for _, d := range s.Deps {
			inputs = append(inputs, workflows.DoneStep{Index: d, Key: keys[d]})
		}
		known, err := workflows.PagesOf(inputs, nil)
		if err != nil {
			return nil, err
		}
		prepared, err := l.Prepare(ctx, workflows.PrepareRequest{Plan: digest, Steps: []workflows.Ready{{Index: i, Cut: true}}, Keys: known})
		if err != nil || prepared[0].Error != "" || prepared[0].Lost {
			l.t.Fatalf("%s: %v %+v", s.Address, err, prepared)
		}
		if prepared[0].Status == runs.Hit {
			keys[i] = prepared[0].Key
			if results[i], err = artifacts.Lookup(ctx, l.Store, keys[i]); err != nil {
				return nil, err
			}
			continue
		}
		req := workflows.ExecuteRequest{Key: prepared[0].Key, Task: prepared[0].Task, Address: s.Address}
		if l.Registry.Lookup(s.Task.Kind).Splits() {
			if req.Parts, err = l.parts(req); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Address, err)
			}
		}
		done, err := l.Execute(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		keys[i] = done.Key
		if results[i], err = artifacts.Lookup(ctx, l.Store, done.Key); err != nil || results[i] == nil {
			l.t.Fatalf("%s: no result: %v", s.Address, err)
		}
		l.declared(s.Address, s.Task.Kind, l.Registry.Lookup(s.Task.Kind).Declared(s.Task), results[i])
	}
	return results, nil
}

func (l *local) parts(req workflows.ExecuteRequest) (out workflows.Pages[artifacts.Digest], _ error) {
	l.t.Helper()
	split, err := l.Split(context.Background(), req)
	if err != nil {
		return out, err
	}
	parts, err := split.Rows(nil)
	if err != nil {
		return out, err
	}
	var keys []artifacts.Digest
	for _, p := range parts {
		done, err := l.Execute(context.Background(), workflows.ExecuteRequest{Key: p.Key, Task: p.Task, Address: p.Label})
		if err != nil {
			return out, fmt.Errorf("%s: %w", p.Label, err)
		}
		if done.Status != runs.Hit {
			l.ran = append(l.ran, p.Label)
		}
		keys = append(keys, done.Key)
	}
	page, rest, err := workflows.Pack(keys)
	if err != nil || len(rest) > 0 {
		l.t.Fatal(len(rest), err)
	}
	out.Page = page
	return out, nil
}

// computed are the kinds whose bytes depend on the processor's vector instructions,
// in the last digits of a float32. Their packages are held to transformers.
var computed = []string{"train", "evaluate", "embed", "train_queries", "generate_queries"}
