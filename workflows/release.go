package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
)

// The bytes of a temporary step go when all steps of the run that read it have results: soon,
// since a run may be long and its disk full before it ends, but not one by one, since an
// activity, Release, looks at all that the store has to know what else needs them.

// releaseRest is how long a run waits at least before it lets go again, and releaseShare how
// many times as long as that took.
const (
	releaseRest  = 30 * time.Second
	releaseShare = 20
)

// ReleaseRequest asks to let go of results that no step of a run will read.
type ReleaseRequest struct {
	Plan     artifacts.Digest        `json:"plan"`
	RunID    string                  `json:"run"`
	Pipeline string                  `json:"pipeline"`
	Project  string                  `json:"project,omitempty"`
	Keys     Pages[artifacts.Digest] `json:"keys"`
}

// Released is what a run has let go.
type Released struct {
	Results int    `json:"results"`
	Bytes   int64  `json:"bytes"`
	Held    int    `json:"held,omitempty"`    // results that stay for others
	For     string `json:"for,omitempty"`     // why one of them does, for people
	Problem string `json:"problem,omitempty"` // why the last try failed
}

// isIdle reports whether nothing of the run will read a step's bytes any more. Which steps read
// it is not known while some are pending.
func (r *run) isIdle(i int) bool {
	return r.heads[i].Temporary && done(r.steps[i].Status) && r.unread[i] == 0 && len(r.pending) == 0
}

// releases lets go while the run goes on.
func (r *run) releases(ctx workflow.Context) {
	for {
		waits := func() bool { return len(r.idle) > 0 && len(r.pending) == 0 && !r.stop }
		if workflow.Await(ctx, waits) != nil {
			return
		}
		began := workflow.Now(ctx)
		idle := r.idle
		r.idle, r.releasing = nil, true
		r.letGo(ctx, idle)
		r.releasing = false
		if workflow.Sleep(ctx, max(releaseRest, releaseShare*workflow.Now(ctx).Sub(began))) != nil {
			return
		}
	}
}

// releaseAll lets go at the end. What was let go already costs a look.
func (r *run) releaseAll(ctx workflow.Context) {
	if workflow.Await(ctx, func() bool { return !r.releasing }) != nil {
		return
	}
	var all []int
	for i := range r.heads {
		all = append(all, i)
	}
	r.letGo(ctx, all)
}

// letGo lets go of those of some steps that are idle. That it cannot fails no run.
func (r *run) letGo(ctx workflow.Context, steps []int) {
	var keys []artifacts.Digest
	for _, i := range steps {
		if r.isIdle(i) {
			keys = append(keys, r.steps[i].Key)
		}
	}
	if len(keys) == 0 {
		return
	}
	req := ReleaseRequest{Plan: r.loaded.Plan, RunID: r.id, Pipeline: r.loaded.Name, Project: r.loaded.Project}
	var out Released
	var err error
	if req.Keys, err = stash(ctx, keys); err == nil {
		actx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "let go of what steps have read", unbounded))
		err = workflow.ExecuteActivity(actx, ReleaseActivity, req).Get(ctx, &out)
	}
	if err != nil {
		out = Released{Problem: reason(err)}
	}
	out.Results, out.Bytes = out.Results+r.released.Results, out.Bytes+r.released.Bytes
	r.released = out
}
