package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/runs"
)

// A limit bounds how many steps of a run have its name at a time, on however many workers.
// Such a step has a workflow of its own, and one that finds no room waits here.

// barred is a step without a result that waits for its limits.
type barred struct {
	Prepared
	grown int // how many times the plan had grown when it was looked up
}

// limitsOf are the names that a step has while it runs.
func (r *run) limitsOf(i int) []string {
	if a := r.heads[i].Resources; a != nil {
		return a.Limits
	}
	return nil
}

// enter gives a step its limits, or holds it until exit finds room for it.
func (r *run) enter(p Prepared) bool {
	names := r.limitsOf(p.Index)
	if len(names) == 0 || r.within[p.Index] {
		return true
	}
	if !r.room(names) {
		r.hold(p.Index)
		r.barred = append(r.barred, barred{p, len(r.moves)})
		return false
	}
	r.within[p.Index] = true
	r.use(names, 1)
	return true
}

func (r *run) use(names []string, n int) {
	for _, name := range names {
		r.used[name] += n
	}
}

// room reports whether one more step may have these names.
func (r *run) room(names []string) bool {
	for _, name := range names {
		if most, bounded := r.loaded.Limits[name]; bounded && r.used[name] >= most {
			return false
		}
	}
	return true
}

// exit takes a step's limits back, if it has them, and starts those that waited for them, the
// first first.
func (r *run) exit(ctx workflow.Context, i int) {
	if !r.within[i] {
		return
	}
	delete(r.within, i)
	r.use(r.limitsOf(i), -1)
	waiting := r.barred
	r.barred = nil
	for _, b := range waiting {
		b.Index, b.grown = r.today(b.grown, b.Index), len(r.moves)
		switch {
		case b.Index < 0:
		case r.stop || r.steps[b.Index].Status != runs.Waiting || r.open[b.Index] > 0:
			r.release(b.Index) // it is looked up again, if it is to be done still
		case !r.room(r.limitsOf(b.Index)):
			r.barred = append(r.barred, b)
		default:
			r.held[b.Index] = false
			r.start(ctx, b.Prepared)
		}
	}
}

// reenter counts the limits of steps that an execution before has started.
func (r *run) reenter() {
	for i := range r.heads {
		if names := r.limitsOf(i); len(names) > 0 && r.mine[i] {
			r.within[i] = true
			r.use(names, 1)
		}
	}
}

// unbar lets go of those that wait for limits that nobody has: of a step that an execution
// before had started, and that is not to be done any more.
func (r *run) unbar() bool {
	found := len(r.barred) > 0
	for _, b := range r.barred {
		if i := r.today(b.grown, b.Index); i >= 0 {
			r.release(i)
		}
	}
	r.barred, r.within, r.used = nil, map[int]bool{}, map[string]int{}
	return found
}
