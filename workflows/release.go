package workflows

import (
	"slices"
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
	artifacts.Freed
	Problem string `json:"problem,omitempty"` // why the last try failed
}

// isIdle reports whether nothing of the run will read a step's bytes any more. Which steps
// read it is not known while some are pending.
func (r *run) isIdle(i int) bool {
	reads := func(u int) bool { return !done(r.steps[u].Status) }
	return r.heads[i].Temporary && done(r.steps[i].Status) && len(r.pending) == 0 && !slices.ContainsFunc(r.users[i], reads)
}

// releases lets go while the run goes on.
func (r *run) releases(ctx workflow.Context) {
	for {
		if workflow.Await(ctx, func() bool { return len(r.read) > 0 && !r.stop }) != nil {
			return
		}
		began, read := workflow.Now(ctx), r.read
		r.read, r.releasing = nil, true
		tried := r.letGo(ctx, read)
		r.releasing = false
		if tried && workflow.Sleep(ctx, max(releaseRest, releaseShare*workflow.Now(ctx).Sub(began))) != nil {
			return
		}
	}
}

// releaseAll lets go at the end: also of what others needed when it was tried before.
func (r *run) releaseAll(ctx workflow.Context) {
	all := make([]int, len(r.heads))
	for i := range all {
		all[i] = i
	}
	if workflow.Await(ctx, func() bool { return !r.releasing }) == nil {
		r.read = nil
		r.letGo(ctx, all)
	}
}

// letGo lets go of those of some steps that are idle, if there are any. That it cannot fails
// no run.
func (r *run) letGo(ctx workflow.Context, steps []int) (tried bool) {
	var keys []artifacts.Digest
	for _, i := range steps {
		if r.isIdle(i) {
			keys = append(keys, r.steps[i].Key)
		}
	}
	if len(keys) == 0 {
		return false
	}
	needed := map[artifacts.Digest]bool{} // by another step of the same key
	for i, s := range r.steps {
		if done(s.Status) && !r.isIdle(i) {
			needed[s.Key] = true
		}
	}
	keys = slices.DeleteFunc(keys, func(k artifacts.Digest) bool { return needed[k] })
	if len(keys) == 0 {
		return false
	}
	slices.SortFunc(keys, artifacts.Digest.Compare)
	keys = slices.Compact(keys)
	req := ReleaseRequest{Plan: r.loaded.Plan, RunID: r.id, Pipeline: r.loaded.Name, Project: r.loaded.Project}
	var out Released
	var err error
	if req.Keys, err = stash(ctx, keys); err == nil {
		actx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "let go of what steps have read", unbounded))
		err = workflow.ExecuteActivity(actx, ReleaseActivity, req).Get(ctx, &out)
	}
	if err != nil {
		out.Problem = reason(err)
	}
	out.Results, out.Bytes = out.Results+r.released.Results, out.Bytes+r.released.Bytes
	r.released = out
	return true
}
