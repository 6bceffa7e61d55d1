package session

import (
	"context"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/system/words"
)

// IsTarget reports whether a step is among the targets, or there are none.
func (se *Session) IsTarget(address string) bool {
	return len(se.Targets) == 0 || slices.ContainsFunc(se.Targets, func(target string) bool { return plan.Matches(target, address) })
}

// PreviewAll loads the pipeline and looks up its results.
func (se *Session) PreviewAll(ctx context.Context) (*plan.Preview, artifacts.Store, error) {
	return se.PreviewFor(ctx, KeepAll)
}

// PreviewFor is preview of a pipeline that may be long: it holds only what keep selects.
func (se *Session) PreviewFor(ctx context.Context, keep plan.Keep) (*plan.Preview, artifacts.Store, error) {
	return se.PreviewOn(ctx, func(*plan.Plan) plan.Keep { return keep })
}

// PreviewOn is previewFor, where what to keep depends on the plan.
func (se *Session) PreviewOn(ctx context.Context, keep func(*plan.Plan) plan.Keep) (*plan.Preview, artifacts.Store, error) {
	pl, _, err := se.LoadPlan(ctx)
	if err != nil {
		return nil, artifacts.Store{}, err
	}
	store, err := se.OpenStore(ctx)
	if err != nil {
		return nil, store, err
	}
	v, err := se.PreviewOf(ctx, store, pl, keep(pl))
	return v, store, err
}

func KeepAll(int, *plan.Item) bool { return true }

func KeepNone(int, *plan.Item) bool { return false }

func (se *Session) PreviewOf(ctx context.Context, store artifacts.Store, pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
	defer se.Waiting("looking up " + words.Count(len(pl.Steps), "step") + " in " + se.Places())()
	policy, _ := se.Policy() // an error is told where it matters, by who opens the stores
	se.Belief = belief.New(policy)
	return pl.Follow(ctx, se.Registry, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return se.Belief.Lookup(ctx, store, keys)
	}, keep, store.Blobs.Open)
}
