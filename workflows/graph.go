package workflows

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/lists"
)

// progress is the state of a run's steps, and which of them can start. A change costs time in proportion to the steps
// that depend on the changed step, not to all steps.
type progress struct {
	heads  []Head
	steps  []StepState
	users  [][]int // of a step: the steps that read it
	open   []int   // of a step: how many inputs have no result yet
	read   []int   // temporary steps, each time that one of their readers is done
	ready  order   // waiting steps whose inputs all have results, and some that no longer are
	queue  []bool  // in ready, or parked
	parked []int   // taken from ready, without room for them yet
	held   []bool  // handed out; its outcome will be reported

	gone  []bool  // failed, or skipped by a failure: steps that gather it go on without
	lacks [][]int // of a step, how many of each of its Gathers are gone

	pending []int // steps that await others' results

	changes int   // so far
	at      []int // of a step: the number of its last change
}

func newProgress(heads []Head) *progress {
	p := &progress{heads: heads, steps: make([]StepState, len(heads)), users: make([][]int, len(heads)),
		open: make([]int, len(heads)), queue: make([]bool, len(heads)), held: make([]bool, len(heads)), at: make([]int, len(heads)),
		gone: make([]bool, len(heads)), lacks: make([][]int, len(heads))}
	for i, h := range heads {
		p.steps[i] = StepState{Index: i, Address: h.Address, Status: runs.Waiting}
		p.open[i], p.lacks[i] = len(h.Deps), make([]int, len(h.Gathers))
		for _, d := range h.Deps {
			p.users[d] = append(p.users[d], i)
		}
		if len(h.Awaits) > 0 {
			p.pending = append(p.pending, i)
		}
		p.touch(i)
	}
	p.ready.rank = p.ranks()
	for i := range heads {
		p.offer(i)
	}
	return p
}

// touch notes that a step's state has changed.
func (p *progress) touch(i int) {
	p.changes++
	p.at[i] = p.changes
}

func (p *progress) startable(i int) bool {
	return p.steps[i].Status == runs.Waiting && p.open[i] == 0 && !p.held[i] && len(p.heads[i].Awaits) == 0
}

// isDecided reports whether a pending step awaits nothing more.
func (p *progress) isDecided(i int) bool {
	missing := func(d int) bool { return !done(p.steps[d].Status) }
	return p.steps[i].Status == runs.Waiting && !slices.ContainsFunc(p.heads[i].Awaits, missing)
}

// hasDecided reports whether a pending step awaits nothing more.
func (p *progress) hasDecided() bool { return slices.ContainsFunc(p.pending, p.isDecided) }

func (p *progress) offer(i int) {
	if p.startable(i) && !p.queue[i] {
		p.queue[i] = true
		heap.Push(&p.ready, i)
	}
}

// hold keeps a step from being offered until it is released.
func (p *progress) hold(i int) { p.held[i] = true }

func (p *progress) release(i int) {
	p.held[i] = false
	p.offer(i)
}

// set gives a step a status, and its readers the consequences: a result lets them start, a failure skips them.
func (p *progress) set(i int, to runs.Status) {
	was := p.steps[i].Status
	p.steps[i].Status = to
	p.touch(i)
	if to == runs.Waiting { // nobody has it
		p.steps[i].Activity = ""
	}
	switch {
	case done(to) && !done(was):
		for _, u := range p.users[i] {
			p.open[u]--
			p.offer(u)
		}
		for _, d := range p.heads[i].Deps {
			if p.heads[d].Temporary {
				p.read = append(p.read, d)
			}
		}
	case done(was) && !done(to):
		for _, u := range p.users[i] {
			p.open[u]++
		}
	}
	switch to {
	case runs.Waiting:
		p.offer(i)
	case runs.Failed, runs.Skipped:
		p.skip(i)
	}
}

// skip marks all steps that wait, directly or not, for a step that will have no result: as skipped, or as cancelled
// if the step was. All have the same reason, so that it can be reported once. A step that gathers others goes on
// without steps that failed, or that a failure skipped, while it has enough. A pending step is skipped only for a
// step that it awaits: the result of that step might leave it out, and then it needs nothing.
func (p *progress) skip(lost int) {
	next := []int{lost}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		s := p.steps[i]
		to, why := s.Status, s.Error
		switch to {
		case runs.Failed:
			to, why = runs.Skipped, needs+s.Address+", which failed"
		case runs.Cancelled:
			if !strings.HasPrefix(why, needs) {
				why = needs + s.Address + ", which was cancelled"
			}
		}
		first := to == runs.Skipped && !p.gone[i]
		p.gone[i] = p.gone[i] || first
		for _, u := range p.users[i] {
			reason, awaits := why, p.heads[u].Awaits
			if g := p.gatherOf(u, i); g >= 0 && p.gone[i] {
				if first {
					p.open[u]--
					p.lacks[u][g]++
				}
				of := p.heads[u].Gathers[g]
				if len(of.Of)-p.lacks[u][g] >= of.Least {
					p.offer(u)
					continue
				}
				reason = fmt.Sprintf("needs %d of %d of %s: %d failed, or need what failed", of.Least, len(of.Of), address.Of(s.Address).Block(), p.lacks[u][g])
			}
			if p.steps[u].Status == runs.Waiting && (len(awaits) == 0 || slices.Contains(awaits, i)) {
				p.steps[u].Status, p.steps[u].Error = to, reason
				p.touch(u)
				next = append(next, u)
			}
		}
	}
}

// needs begins the reason why a step was skipped.
const needs = "needs "

// gatherOf returns in which of the Gathers of step u step i is; -1: in none.
func (p *progress) gatherOf(u, i int) int {
	return slices.IndexFunc(p.heads[u].Gathers, func(g Gather) bool { _, is := slices.BinarySearch(g.Of, i); return is })
}

// without returns the steps that a step gathers and that are gone.
func (p *progress) without(u int) (list []int) {
	for _, g := range p.heads[u].Gathers {
		list = append(list, lists.Filter(g.Of, func(i int) bool { return p.gone[i] })...)
	}
	return list
}

// ranks returns how many seconds pass from the beginning of each step to the end of the run, if steps take as long as
// last time and enough workers are there. A step that has never run counts as the mean of the steps that have, or as
// a second.
func (p *progress) ranks() []float64 {
	mean, ran := 0.0, 0
	for _, h := range p.heads {
		if h.TookS != nil {
			mean += *h.TookS
			ran++
		}
	}
	if mean /= float64(max(1, ran)); ran == 0 {
		mean = 1
	}
	rank := make([]float64, len(p.heads))
	for i := len(p.heads) - 1; i >= 0; i-- { // what reads a step comes after it
		took := mean
		if t := p.heads[i].TookS; t != nil {
			took = *t
		}
		rank[i] += took
		for _, d := range p.heads[i].Deps {
			rank[d] = max(rank[d], rank[i])
		}
	}
	return rank
}

// take returns steps that can start, by rank: at most so many short steps, and so many others. A step for which there
// is no room, or that is for later, is parked, and comes first the next time.
func (p *progress) take(short, others int, isShort, later func(int) bool) (ready []int) {
	add := func(i int) bool {
		switch {
		case !p.startable(i): // an input was lost meanwhile, say
			p.queue[i] = false
			return true
		case isShort(i) && short > 0:
			short--
		case !isShort(i) && others > 0 && !later(i):
			others--
		default:
			return false
		}
		p.queue[i] = false
		ready = append(ready, i)
		return true
	}
	kept := 0
	for n, i := range p.parked {
		if short == 0 && others == 0 {
			kept += copy(p.parked[kept:], p.parked[n:])
			break
		}
		if !add(i) {
			p.parked[kept] = i
			kept++
		}
	}
	p.parked = p.parked[:kept]
	for (short > 0 || others > 0) && p.ready.Len() > 0 {
		if i := heap.Pop(&p.ready).(int); !add(i) {
			p.parked = append(p.parked, i)
		}
	}
	return ready
}

// following returns at most so many steps whose inputs have results, or are among from or among the returned steps,
// each after its inputs.
func (p *progress) following(from []int, most int, want func(int) bool) []int {
	in := make(map[int]bool, len(from))
	open := map[int]int{} // inputs that are neither there nor in
	all := append([]int(nil), from...)
	for _, i := range from {
		in[i] = true
	}
	for n := 0; n < len(all); n++ {
		for _, u := range p.users[all[n]] {
			if len(all)-len(from) >= most {
				return all[len(from):]
			}
			if in[u] || p.steps[u].Status != runs.Waiting || p.held[u] || len(p.heads[u].Awaits) > 0 || !want(u) {
				continue
			}
			if _, seen := open[u]; !seen {
				open[u] = p.open[u]
			}
			if open[u]--; open[u] == 0 {
				in[u] = true
				all = append(all, u)
			}
		}
	}
	return all[len(from):]
}

func (p *progress) counts() map[runs.Status]int {
	n := map[runs.Status]int{}
	for _, s := range p.steps {
		n[s.Status]++
	}
	return n
}

func done(s runs.Status) bool { return s == runs.Hit || s == runs.Ran }

// order is a heap of steps: the highest rank first, and with equal ranks in the order of the plan.
type order struct {
	steps []int
	rank  []float64
}

func (o *order) Len() int { return len(o.steps) }
func (o *order) Less(i, j int) bool {
	x, y := o.steps[i], o.steps[j]
	if o.rank[x] != o.rank[y] {
		return o.rank[x] > o.rank[y]
	}
	return x < y
}
func (o *order) Swap(i, j int) { o.steps[i], o.steps[j] = o.steps[j], o.steps[i] }
func (o *order) Push(x any)    { o.steps = append(o.steps, x.(int)) }
func (o *order) Pop() any {
	last := o.steps[len(o.steps)-1]
	o.steps = o.steps[:len(o.steps)-1]
	return last
}
