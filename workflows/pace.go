package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// pace is how long the steps of a class have taken in this run. Programs that nobody
// has seen run are tried out: a few get workflows of their own, and the others wait
// until it is known, or until it takes long.
type pace struct {
	last    [samples]float64 // seconds
	n       int
	late    bool  // nothing came back in time
	probing int   // running to try the class out
	waiting []int // steps that are held until more is known
}

// So many steps of a class must have been short before others are thought to be, and so
// long the others wait for them: with a queue and a worker that has just started, that
// is longer than a short step takes.
const (
	samples    = 3
	probeGrace = 2 * ShortStep
)

// verdict is what is expected of a step.
type verdict int

const (
	unknown verdict = iota
	quick
	slow
)

// judge says whether a step is done with others in a batch, or gets a workflow of its
// own, which costs the server as much as a tenth of a second of work.
func (r *run) judge(i int) verdict {
	h := r.heads[i]
	p := r.paces[h.Class]
	_, alone := r.alone[i]
	last := 0.0
	switch {
	case h.Splits, h.Queue == "gpu", alone, h.Resources != nil && len(h.Resources.Limits) > 0:
		return slow
	case h.Inline:
		return quick
	case h.TookS != nil:
		last = *h.TookS
	case p == nil || p.n < samples && !p.late:
		return unknown
	case p.n < samples:
		return slow
	default:
		last = slices.Max(p.last[:])
	}
	if last <= ShortStep.Seconds() {
		return quick
	}
	return slow
}

func (r *run) paceOf(class string) *pace {
	p := r.paces[class]
	if p == nil {
		p = &pace{}
		r.paces[class] = p
	}
	return p
}

// took notes how long a step of a class took, and lets go of those that wait to know.
func (r *run) took(i int, seconds float64) {
	p := r.paceOf(r.heads[i].Class)
	p.last[p.n%samples] = seconds
	p.n++
	p.probing = max(0, p.probing-1)
	r.free(p)
}

func (r *run) free(p *pace) {
	for _, i := range p.waiting {
		r.release(i)
	}
	p.waiting = nil
	r.changed = true
}

// probe reports whether a step of an unknown class is started to try it out. If
// not, it is held.
func (r *run) probe(ctx workflow.Context, i int) bool {
	p := r.paceOf(r.heads[i].Class)
	if p.probing < samples {
		p.probing++
		return true
	}
	r.hold(i)
	if p.waiting = append(p.waiting, i); len(p.waiting) == 1 {
		workflow.Go(ctx, func(ctx workflow.Context) {
			if workflow.Sleep(ctx, probeGrace) == nil && p.n < samples {
				p.late = true
			}
			r.free(p)
		})
	}
	return false
}
