package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

// IsTarget reports whether a step is among the targets, or there are none.
func (se *Session) IsTarget(address string) bool {
	return len(se.Targets) == 0 || slices.ContainsFunc(se.Targets, func(target string) bool { return plan.Matches(target, address) })
}

// Seen is a preview, with what it was made from.
type Seen struct {
	*plan.Preview
	Plan     *plan.Plan
	Pipeline *pipeline.Pipeline
	Store    *artifacts.Resolver // with the stores of others behind it
}

// Ask says which results a preview holds in memory (nil: none), once there are a plan and an open store.
type Ask func(of Seen) (plan.Keep, error)

// Everything asks for every result.
func Everything(Seen) (plan.Keep, error) { return plan.KeepAll, nil }

// Named asks for the results of the steps that a target names.
func Named(target string) Ask {
	return func(of Seen) (plan.Keep, error) {
		return func(i int, _ *plan.Item) bool { return plan.Matches(target, of.Plan.Steps[i].Address) }, nil
	}
}

// Rendered asks for the results of tables and figures.
func Rendered(of Seen) (plan.Keep, error) {
	return func(i int, _ *plan.Item) bool { return of.Plan.Steps[i].IsRendered() }, nil
}

// Step is the place in the plan of the one step that an address names.
func (v Seen) Step(address string) (int, error) {
	i := slices.IndexFunc(v.Plan.Steps, func(s plan.Step) bool { return s.Address == address })
	if i < 0 {
		return i, fault.Input(fmt.Errorf("%s is more than one step; name one instance", address))
	}
	return i, nil
}

// AsItStands has previews, until back is called, take steps of on_failure blocks without a result for failed, and stale
// results for fresh: for commands that run nothing.
func (se *Session) AsItStands() (back func()) {
	was := se.asItStands
	se.asItStands = true
	return func() { se.asItStands = was }
}

// Preview reads the pipeline, plans the targets, opens the stores and looks up what they have, as it stands.
func (se *Session) Preview(ctx context.Context, ask Ask) (Seen, error) {
	defer se.AsItStands()()
	pl, p, err := se.loadPlan(ctx, true)
	if err != nil {
		return Seen{}, err
	}
	return se.previewed(ctx, Seen{Plan: pl, Pipeline: p}, ask)
}

// PreviewSteps is Preview for a run, and without the pipeline, of which a large one need not stay in memory while results are looked up.
func (se *Session) PreviewSteps(ctx context.Context, ask Ask) (Seen, error) {
	pl, _, err := se.LoadPlan(ctx)
	if err != nil {
		return Seen{}, err
	}
	return se.previewed(ctx, Seen{Plan: pl}, ask)
}

// PreviewTargets is Preview for other targets of a pipeline that was read.
func (se *Session) PreviewTargets(ctx context.Context, p *pipeline.Pipeline, targets []string, ask Ask) (Seen, error) {
	defer se.AsItStands()()
	pl, p, err := se.planGrown(ctx, p, targets, true)
	if err != nil {
		return Seen{}, err
	}
	return se.previewed(ctx, Seen{Plan: pl, Pipeline: p}, ask)
}

func (se *Session) previewed(ctx context.Context, seen Seen, ask Ask) (_ Seen, err error) {
	if seen.Store, err = se.OpenStore(ctx); err != nil {
		return seen, err
	}
	var keep plan.Keep = plan.KeepNone
	if ask != nil {
		if keep, err = ask(seen); err != nil {
			return seen, err
		}
	}
	seen.Preview, err = se.PreviewOf(ctx, seen.Store, seen.Plan, keep)
	return seen, err
}

// PreviewOf looks up a plan's results in a store, and those behind it.
func (se *Session) PreviewOf(ctx context.Context, store *artifacts.Resolver, pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
	defer se.Waiting("looking up " + words.Count(len(pl.Steps), "step") + " in " + se.Places())()
	policy, _ := se.Policy() // an error is told where it matters, by who opens the stores
	se.Belief = belief.New(policy)
	at := time.Now()
	if se.asItStands {
		at = time.Time{}
	}
	return pl.FollowWithout(ctx, se.Registry, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return se.Belief.Lookup(ctx, store, keys)
	}, keep, store.Open, func(_ int, has bool) bool { return se.asItStands && !has }, at)
}
