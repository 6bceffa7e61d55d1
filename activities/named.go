package activities

import (
	"context"

	"github.com/redsi/redsi/workflows"
)

// Named are all activities, by the names under which workflows call them.
func (a *Activities) Named() map[string]any {
	return map[string]any{
		workflows.LoadActivity:    tried(a, a.Load),
		workflows.GrowActivity:    tried(a, a.Grow),
		workflows.PrepareActivity: tried(a, a.Prepare),
		workflows.SplitActivity:   tried(a, a.Split),
		workflows.DoActivity:      a.Do,
		workflows.ExecuteActivity: a.Execute,
		workflows.RestActivity:    unanswered(a, a.Rest),
		workflows.JournalActivity: unanswered(a, a.Journal),
		workflows.CloseActivity:   unanswered(a, a.Close),
		workflows.StashActivity:   tried(a, a.Stash),
		workflows.PageActivity:    tried(a, a.Page),
		workflows.ReleaseActivity: tried(a, a.Release),
	}
}

// tried is an activity that is an attempt.
func tried[Q, R any](a *Activities, do func(context.Context, Q) (R, error)) func(context.Context, Q) (R, error) {
	return func(ctx context.Context, req Q) (R, error) {
		return attempt(ctx, a, func(ctx context.Context) (R, error) { return do(ctx, req) })
	}
}

// unanswered is tried of what has no answer but its error.
func unanswered[Q any](a *Activities, do func(context.Context, Q) error) func(context.Context, Q) error {
	return func(ctx context.Context, req Q) error {
		_, err := attempt(ctx, a, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx, req) })
		return err
	}
}
