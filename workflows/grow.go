package workflows

import (
	"cmp"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/lists"
)

// A step's result may decide which steps there are. Until then these are pending in the plan; when what they await is
// there, an activity, Grow, builds the plan anew, and the run goes on with the new plan. Steps have other places in
// it: work that is under way has the places of the plan with which it began, see today.

// growRest is how many times as long as the last Grow took a run that has other work waits until the next: steps that
// await one result each must not cost a plan each.
const growRest = 10

// GrowRequest asks for the plan that follows from a plan with pending steps and the results in the store.
type GrowRequest struct {
	Plan    artifacts.Digest `json:"plan"`
	RunID   string           `json:"run_id"`
	Project string           `json:"project,omitempty"`
	Lock    string           `json:"lock,omitempty"`
	Dir     string           `json:"dir,omitempty"`
	Gone    Pages[int]       `json:"gone"` // steps without which steps that gather them go on
}

// Grown is that plan. Wrong are its pending steps for which others' outputs do not fit the pipeline; Unfit says why
// the worker left the request to another worker.
type Grown struct {
	Plan  artifacts.Digest `json:"plan"`
	Steps Pages[Head]      `json:"steps"`
	Wrong Pages[Misfit]    `json:"wrong"`
	Unfit string           `json:"unfit,omitempty"`
}

// Misfit is a pending step that nothing will decide, and why.
type Misfit struct {
	Index int    `json:"i"`
	Why   string `json:"why"`
}

// mayGrow reports whether a pending step can be decided, and growRest is over.
func (r *run) mayGrow(ctx workflow.Context) bool {
	return !r.stop && !workflow.Now(ctx).Before(r.growNext) && r.hasDecided()
}

// grow has the plan built anew and goes on with the new plan.
func (r *run) grow(ctx workflow.Context) error {
	began := workflow.Now(ctx)
	gctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "plan what follows from what steps have made", unbounded))
	req := GrowRequest{Plan: r.loaded.Plan, RunID: r.id, Project: r.loaded.Project, Lock: r.loaded.Lock, Dir: r.in.Dir}
	var err error
	if req.Gone, err = stash(ctx, lists.Filter(lists.Places(len(r.steps)), func(i int) bool { return r.gone[i] })); err != nil {
		return err
	}
	var g Grown
	if err := workflow.ExecuteActivity(gctx, GrowActivity, req).Get(ctx, &g); err != nil {
		return err
	}
	now := workflow.Now(ctx)
	r.growNext = now.Add(growRest * now.Sub(began).Truncate(time.Millisecond))
	r.changed = true
	if g.Unfit != "" {
		return nil
	}
	heads, err := unstash(ctx, g.Steps)
	wrong, werr := unstash(ctx, g.Wrong)
	if err := cmp.Or(err, werr); err != nil {
		return err
	}
	r.adopt(heads)
	r.loaded.Plan, r.hits = g.Plan, true // of an earlier run, perhaps
	for _, x := range wrong {
		r.fail(x.Index, x.Why)
	}
	for _, i := range r.pending {
		if r.isDecided(i) { // the result that it awaits cannot be read
			r.runAgain(i, r.heads[i].Awaits)
		}
	}
	return nil
}

// adopt takes the state of the steps of a plan over to the plan that has grown from it.
func (r *run) adopt(heads []Head) {
	was, is := r.progress, newProgress(heads)
	place := make(map[string]int, len(heads))
	for j, h := range heads {
		place[h.Address] = j
	}
	move, same := make([]int, len(was.heads)), make([]int, len(was.heads))
	for i, h := range was.heads {
		j, stays := place[h.Address]
		if !stays {
			j = -1
		}
		move[i], same[i] = j, j
		if len(h.Awaits) > 0 && was.steps[i].Status != runs.Running { // a running step was decided before what it awaits was lost
			move[i] = -1
			if past, ok := r.past[i]; ok {
				r.past[i] = Past{Lost: past.Lost}
			}
		}
	}
	for i, j := range move {
		if j < 0 {
			continue
		}
		s := was.steps[i]
		s.Index, s.Status = j, is.steps[j].Status
		is.steps[j] = s
		is.held[j] = was.held[i]
		if to := was.steps[i].Status; done(to) {
			is.set(j, to)
		} else {
			is.steps[j].Status = to
		}
	}
	for j, s := range is.steps { // now that the states of all readers are set
		switch s.Status {
		case runs.Failed, runs.Cancelled, runs.Skipped: // steps that are new may read it
			is.skip(j)
		}
	}
	r.progress = is
	r.moves = append(r.moves, move)
	r.past = moved(r.past, same)
	for n, i := range r.barred {
		r.barred[n] = move[i]
	}
	r.barred = slices.DeleteFunc(r.barred, func(i int) bool { return i < 0 })
	for _, w := range r.given {
		if len(w.left) == 0 { // it has ended
			continue
		}
		w.left, w.first = moved(w.left, move), moved(w.first, move)
		for n, i := range w.steps {
			if i >= 0 {
				w.steps[n] = move[i]
			}
		}
	}
}

func moved[V any](of map[int]V, move []int) map[int]V {
	to := make(map[int]V, len(of))
	for i, j := range move {
		if v, ok := of[i]; ok && j >= 0 {
			to[j] = v
		}
	}
	return to
}

// today returns the place of a step that had place i when the plan had grown so many times; -1: it has none. A step
// that is under way may go, too, if what it awaited was lost and has changed.
func (r *run) today(grown, i int) int {
	for _, move := range r.moves[grown:] {
		if i < 0 || i >= len(move) {
			return -1
		}
		i = move[i]
	}
	return i
}
