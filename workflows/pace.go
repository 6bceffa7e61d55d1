package workflows

import "slices"

// pace is how long the steps of a class have taken in this run, in seconds. So many of a class that nobody has seen run
// must have been short before others are thought to be.
type pace struct {
	last [3]float64
	n    int
}

// isShort reports whether a step is done with others in a batch. The first steps of programs that nobody has seen run are
// not: an activity of its own costs the server some milliseconds, and a slow step in a batch the others' time.
func (r *run) isShort(i int) bool {
	h := r.heads[i]
	p := r.paces[h.Class]
	switch {
	case h.Splits, h.Queue == "gpu", r.past[i].Singly, h.Resources != nil && len(h.Resources.Limits) > 0:
		return false
	case h.Inline:
		return true
	case h.TookS != nil:
		return *h.TookS <= ShortStep.Seconds()
	}
	return p.n >= len(p.last) && slices.Max(p.last[:]) <= ShortStep.Seconds()
}

// took notes how long a step took.
func (r *run) took(i int, seconds float64) {
	p := r.paces[r.heads[i].Class]
	p.last[p.n%len(p.last)] = seconds
	p.n++
	r.paces[r.heads[i].Class] = p
}
