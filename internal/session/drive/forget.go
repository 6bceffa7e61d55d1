package drive

import (
	"context"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/workflows"
)

// Forget forgets the results of a target's steps and, with downstream, of their readers; it returns whose results there were.
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
	keys := []artifacts.Digest{v.Items[i].Key}
	acts := dr.Activities(store, nil, workflows.Features{})
	parts, err := acts.PartKeys(ctx, v.Items[i].Key, v.Items[i].Task())
	if err != nil {
		return err
	}
	for _, k := range append(keys, parts...) {
		if err := artifacts.DropResult(ctx, store.Own, k); err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			return err
		}
	}
	return nil
}
