package drive

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// RecordHits records a run that found all done: an earlier one may have been killed before it wrote its record.
func (dr *Driver) RecordHits(ctx context.Context, store *artifacts.Resolver, pl *plan.Plan, v *plan.Preview) error {
	rec := runs.Record{RunID: NewRunID(), Pipeline: pl.Pipeline, Project: dr.Project(), Targets: dr.Targets,
		Counts: map[runs.Status]int{runs.Hit: len(pl.Steps)}}
	rec.Steps = make([]runs.Step, len(v.Items))
	for i, it := range v.Items {
		rec.Steps[i] = runs.Step{Address: pl.Steps[i].Address, Key: it.Key, Outcome: runs.Hit, TookS: it.Took.Seconds()}
	}
	return runs.WriteHits(ctx, store.Own, rec, func() (artifacts.Digest, error) { return plan.Store(ctx, store.Own.Blobs, pl) })
}

// Release lets go of temporary steps' bytes in a run that finds them done, since an earlier run did not.
func (dr *Driver) Release(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) workflows.Released {
	var keys []artifacts.Digest
	for i, it := range v.Items {
		if v.Plan.Steps[i].Temporary && !it.Released {
			keys = append(keys, it.Key)
		}
	}
	if len(keys) == 0 {
		return workflows.Released{}
	}
	defer dr.Waiting("letting go of what steps have read")()
	req := workflows.ReleaseRequest{Pipeline: v.Plan.Pipeline, Project: dr.Project()}
	var out workflows.Released
	var err error
	if req.Keys, err = activities.PagesOf(ctx, store.Own.Blobs, keys); err == nil {
		out, err = dr.Activities(store, nil, workflows.Features{}).Release(ctx, req)
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out
}

// IsRead reports whether a run reads the result of step i at its end: for pins, tables, figures, and publishing.
func (dr *Driver) IsRead(pl *plan.Plan, i int) bool {
	s := pl.Steps[i]
	published := func(p pipeline.Publish) bool {
		return slices.ContainsFunc(p.Files, func(r step.Ref) bool { return r.Step == s.Address })
	}
	return s.IsRendered() || slices.ContainsFunc(dr.Published, published) || dr.Registry.Lookup(s.Task.Kind).HasPins()
}

// FillResults adds the results that are read at a run's end to its preview, from its record: the plan is previewed once.
func (dr *Driver) FillResults(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, runID string) error {
	lost := func(what string) error {
		return fmt.Errorf("%s is not in %s after the run: the run's workers use another store; start them with --store %s, or give theirs here", what, store.Own.URL, shellwords.Quote(store.Own.URL))
	}
	defer dr.Waiting("reading the results")()
	rec, err := runs.Read(ctx, store.Own, runID)
	if errors.Is(err, artifacts.ErrNotExist) {
		return lost("its record")
	}
	if err != nil {
		return err
	}
	left, lacks, place := map[int]artifacts.Digest{}, map[int][]int{}, v.Plan.Places()
	for _, s := range rec.Steps {
		i, there := place[s.Address]
		if !there || v.Plan.Steps[i].Pending() {
			continue
		}
		for _, address := range s.Lacks {
			if d, ok := place[address]; ok {
				lacks[i] = append(lacks[i], d)
			}
		}
		if !dr.IsRead(v.Plan, i) && !dr.IsAsked(v.Plan, i) {
			continue
		}
		if s.Outcome == runs.Ran || s.Outcome == runs.Hit && v.Items[i].Result == nil {
			left[i] = s.Key
		}
	}
	found, err := artifacts.LookupKnown(ctx, store, slices.Collect(maps.Values(left)))
	if err != nil {
		return err
	}
	for i, key := range left {
		if found[key] == nil {
			return lost("the result of " + v.Plan.Steps[i].Address)
		}
		v.Items[i] = plan.Item{Outcome: plan.Hit, Key: key, Result: found[key], From: found[key].From, Released: found[key].Released}
	}
	for i, list := range lacks {
		s := v.Items[i].Snags()
		s.Lacks = list
		v.Items[i].Rare = &s
	}
	return nil
}

func NewRunID() string {
	b := make([]byte, 4)
	rand.Read(b) // never fails
	return workflows.NewRunID(time.Now(), hex.EncodeToString(b))
}

func (dr *Driver) PinSources(v *plan.Preview) error {
	lock := dr.LockFile()
	for i, it := range v.Items {
		s := &v.Plan.Steps[i]
		spec := dr.Registry.Lookup(s.Task.Kind)
		if it.Outcome != plan.Hit || !spec.HasPins() { // it failed, or was not started
			continue
		}
		pins, err := spec.Pins(s.Task, it.Result.Outputs)
		if err == nil {
			err = lockfile.Add(lock, pins)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.Address, err)
		}
	}
	return nil
}

// Forget forgets the results of a target's steps and, with downstream, of their readers; it returns the steps that had results.
func (dr *Driver) Forget(ctx context.Context, target string, downstream bool) ([]string, error) {
	p, err := dr.Load(ctx)
	if err != nil {
		return nil, err
	}
	v, err := dr.PreviewTargets(ctx, p, nil, session.Everything)
	if err != nil {
		return nil, err
	}
	if _, err := plan.Build(dr.File, v.Pipeline, dr.Registry, []string{target}); err != nil { // the target names something
		return nil, dr.TargetError(err)
	}
	chosen := selected(v.Plan, target, downstream)
	forgotten := []string{}
	for i, it := range v.Items {
		if !chosen[i] || it.Result == nil {
			continue
		}
		address := v.Plan.Steps[i].Address
		if from := it.Result.From; from != "" {
			dr.Say(fmt.Sprintf("%s: its result is in %s, which is read-only; a run that does not look there runs the step", address, from))
			continue
		}
		if err := dr.forget(ctx, v.Store, v.Preview, i); err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		forgotten = append(forgotten, address)
	}
	return forgotten, nil
}

// selected marks the steps that a target names and, with downstream, all later steps that depend on them.
func selected(p *plan.Plan, target string, downstream bool) []bool {
	chosen := make([]bool, len(p.Steps))
	for i, s := range p.Steps {
		chosen[i] = plan.Matches(target, s.Address)
		for _, d := range s.Deps {
			chosen[i] = chosen[i] || downstream && chosen[d]
		}
	}
	return chosen
}

func (dr *Driver) forget(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, i int) error {
	key := v.Items[i].Key
	parts, err := dr.Activities(store, nil, workflows.Features{}).PartKeys(ctx, key, v.Items[i].Task())
	if err != nil {
		return err
	}
	for _, k := range append([]artifacts.Digest{key}, parts...) {
		if err := artifacts.DropResult(ctx, store.Own, k); err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			return err
		}
	}
	return nil
}
