package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
)

// The bytes of a temporary step are released when all steps of the run that read it have results: soon, since a run
// may be long and its disk full before it ends, but not one by one, since an activity, Release, reads all records of
// the store to find what else needs them.

// releaseRest is how long a run waits at least between two releases, and releaseShare how many times as long as the
// last one took.
const (
	releaseRest  = 30 * time.Second
	releaseShare = 20
)

// ReleaseRequest asks to release results that no step of a run will read.
type ReleaseRequest struct {
	Plan     artifacts.Digest        `json:"plan"`
	RunID    string                  `json:"run"`
	Pipeline string                  `json:"pipeline"`
	Project  string                  `json:"project,omitempty"`
	Keys     Pages[artifacts.Digest] `json:"keys"`
}

// Released counts what a run has released.
type Released struct {
	artifacts.Freed
	Problem string `json:"problem,omitempty"` // why the last try failed
}

// isIdle reports whether no step of the run will read a step's bytes any more. While steps are pending, nobody knows.
func (r *run) isIdle(i int) bool {
	reads := func(u int) bool { return !done(r.steps[u].Status) }
	return r.heads[i].Temporary && done(r.steps[i].Status) && len(r.pending) == 0 && !slices.ContainsFunc(r.users[i], reads)
}

// releases releases bytes while the run goes on.
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

// releaseAll releases bytes at the end, also bytes that others needed at earlier tries.
func (r *run) releaseAll(ctx workflow.Context) {
	if workflow.Await(ctx, func() bool { return !r.releasing }) == nil {
		r.read = nil
		r.letGo(ctx, lists.Places(len(r.heads)))
	}
}

// letGo releases the bytes of the idle steps among the given ones, if there are any. If it cannot, the run does not fail.
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
