package session

import (
	"context"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/system/words"
)

// IsTarget reports whether a step is among the targets, or there are none.
func (se *Session) IsTarget(address string) bool {
	return len(se.Targets) == 0 || slices.ContainsFunc(se.Targets, func(target string) bool { return plan.Matches(target, address) })
}

// Ask says what a preview holds in memory: a pipeline may be long.
type Ask struct {
	Keep plan.Keep // nil: no result
	// KeepOf is in place of Keep, where it depends on the plan and the store.
	KeepOf func(pl *plan.Plan, store artifacts.Store) (plan.Keep, error)
}

// Seen is a preview, with what it was made from.
type Seen struct {
	*plan.Preview
	Pipeline *pipeline.Pipeline
	Store    artifacts.Store // with the stores of others behind it
}

// Preview reads the pipeline, plans the targets, opens the stores and looks up what they have.
func (se *Session) Preview(ctx context.Context, ask Ask) (seen Seen, err error) {
	pl, p, err := se.LoadPlan(ctx)
	if err != nil {
		return seen, err
	}
	seen.Pipeline = p
	if seen.Store, err = se.OpenStore(ctx); err != nil {
		return seen, err
	}
	keep := ask.Keep
	if ask.KeepOf != nil {
		if keep, err = ask.KeepOf(pl, seen.Store); err != nil {
			return seen, err
		}
	}
	if keep == nil {
		keep = KeepNone
	}
	seen.Preview, err = se.PreviewOf(ctx, seen.Store, pl, keep)
	return seen, err
}

// PreviewFor is Preview for what keep selects.
func (se *Session) PreviewFor(ctx context.Context, keep plan.Keep) (*plan.Preview, artifacts.Store, error) {
	seen, err := se.Preview(ctx, Ask{Keep: keep})
	return seen.Preview, seen.Store, err
}

// KeepAll holds every result.
func KeepAll(int, *plan.Item) bool { return true }

// KeepNone holds no result.
func KeepNone(int, *plan.Item) bool { return false }

// PreviewOf looks up a plan's results in a store, and those behind it.
func (se *Session) PreviewOf(ctx context.Context, store artifacts.Store, pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
	defer se.Waiting("looking up " + words.Count(len(pl.Steps), "step") + " in " + se.Places())()
	policy, _ := se.Policy() // an error is told where it matters, by who opens the stores
	se.Belief = belief.New(policy)
	return pl.Follow(ctx, se.Registry, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return se.Belief.Lookup(ctx, store, keys)
	}, keep, store.Blobs.Open)
}
