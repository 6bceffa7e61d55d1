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
		workflows.RestActivity:    a.Rest,
		workflows.JournalActivity: a.Journal,
		workflows.CloseActivity:   a.Close,
		workflows.StashActivity:   tried(a, a.Stash),
		workflows.PageActivity:    tried(a, a.Page),
		workflows.ReleaseActivity: tried(a, a.Release),
	}
}

// tried is an activity that is an attempt.
func tried[Q, R any](a *Activities, do func(context.Context, Q) (R, error)) func(context.Context, Q) (R, error) {
	return func(ctx context.Context, req Q) (R, error) {
		return attempt(ctx, a, func(ctx context.Context, _ *pulse) (R, error) { return do(ctx, req) })
	}
}
