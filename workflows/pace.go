package workflows

import (
	"slices"
	"time"
)

// triedEach is how many steps of a class that has never run are given out for each slot of a worker. The others
// follow when these show whether they are short, or after LongStep, for there may be more workers.
const triedEach = 4

// pace is how long the steps of a class have taken in this run, in seconds. So many steps of a class that had never
// run must have been short before others count as short.
type pace struct {
	last  [3]float64
	n     int
	given int       // steps
	until time.Time // when the others stop waiting for these
}

// isShort reports whether a step is done with others in a batch. The first steps of a class that has never run are
// not: an activity of its own costs the server some milliseconds, and a slow step in a batch costs the others' time.
func (r *run) isShort(i int) bool {
	h := r.heads[i]
	p := r.paces[h.Class]
	switch {
	case r.isSingle(i), h.Resources != nil && len(h.Resources.Limits) > 0:
		return false
	case h.Inline:
		return true
	case h.TookS != nil:
		return *h.TookS <= ShortStep.Seconds()
	}
	return p.n >= len(p.last) && slices.Max(p.last[:]) <= ShortStep.Seconds()
}

// isSingle reports whether a step is given out on its own, however long it takes.
func (r *run) isSingle(i int) bool {
	h := r.heads[i]
	return h.Splits || h.Queue == "gpu" || r.past[i].Singly
}

// later returns a function that reports whether a step that is not short waits for the first steps of its class, and
// counts the steps that do not. The run looks again at the time wake.
func (r *run) later(now time.Time) func(i int) bool {
	r.wake = time.Time{}
	taken := map[string]int{}
	return func(i int) bool {
		h := r.heads[i]
		p := r.paces[h.Class]
		switch {
		case r.isSingle(i), h.TookS != nil, p.n >= len(p.last), p.given > 0 && !now.Before(p.until):
			return false
		case p.given+taken[h.Class] >= triedEach*max(1, r.loaded.Features.Slots, r.in.Slots):
			if p.given > 0 && (r.wake.IsZero() || p.until.Before(r.wake)) {
				r.wake = p.until
			}
			return true
		}
		taken[h.Class]++
		return false
	}
}

// tried notes that a step was given out on its own.
func (r *run) tried(i int, now time.Time) {
	p := r.paces[r.heads[i].Class]
	if p.given++; p.given == 1 {
		p.until = now.Add(LongStep)
	}
	r.paces[r.heads[i].Class] = p
}

// took notes how long a step took.
func (r *run) took(i int, seconds float64) {
	p := r.paces[r.heads[i].Class]
	p.last[p.n%len(p.last)] = seconds
	p.n++
	r.paces[r.heads[i].Class] = p
}
