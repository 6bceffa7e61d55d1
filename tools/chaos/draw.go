//go:build linux

package main

import (
	"math/rand/v2"
	"slices"
)

// From when on a fault's AfterMS counts.
const (
	whenStart    = "start"    // the beginning of the run
	whenDatabase = "database" // the first file of the server's database
	whenDone     = "done"     // the end of that many steps
	whenModels   = "models"   // the start of the second program
	whenTraining = "training" // the first checkpoint of a training
)

type choice struct {
	Fault   string  `json:"fault"`
	When    string  `json:"when"`
	Done    int     `json:"done,omitempty"`
	AfterMS int     `json:"after_ms"`
	HoldMS  int     `json:"hold_ms,omitempty"` // how long the cause lasts
	N       int     `json:"n,omitempty"`       // how many, or how often
	Share   float64 `json:"share,omitempty"`   // of requests
	Ends    bool    `json:"ends,omitempty"`    // the run is interrupted halfway, while the cause lasts
}

// itself reports whether the run must go on without the next one.
func (c choice) itself() bool { return faultNamed(c.Fault).itself && !c.Ends }

// draw draws the choices of a round of a fault: one, or two of the same place.
func draw(f *fault, s shape, r *rand.Rand) []choice {
	choices := []choice{drawOne(f, s, r)}
	if !f.alone && r.IntN(4) == 0 {
		var more []*fault
		for i := range faults {
			if g := &faults[i]; g.second && g.place == f.place && (g.away || !f.away) && (g.small == "" || g.small == f.small) {
				more = append(more, g)
			}
		}
		if len(more) > 0 {
			choices = append(choices, drawOne(more[r.IntN(len(more))], s, r))
		}
	}
	return choices
}

func drawOne(f *fault, s shape, r *rand.Rand) choice {
	c := choice{Fault: f.name, HoldMS: 1000 + r.IntN(6000), N: 2 + r.IntN(9), Share: 0.2 + 0.6*r.Float64()}
	if r.IntN(8) == 0 {
		c.HoldMS = 22000 + r.IntN(6000) // longer than servers and workers tolerate
	}
	if f.away {
		c.HoldMS, c.Ends = 5000+r.IntN(15000), r.IntN(3) == 0
	}
	switch {
	case f.place == models && f.moment == momentFirst:
		c.When, c.AfterMS = whenModels, r.IntN(250)
	case f.place == models && r.IntN(3) == 0:
		c.When, c.AfterMS = whenModels, r.IntN(2500)
	case f.place == models:
		c.When, c.AfterMS = whenTraining, r.IntN(1500)
	case f.moment == momentFirst:
		c.When, c.AfterMS = whenDatabase, r.IntN(250)
	case f.moment == momentLast:
		c.When, c.Done, c.AfterMS = whenDone, s.steps()-1-r.IntN(2), r.IntN(700)
	case f.alone:
		c.When = whenStart
	case r.IntN(5) == 0:
		c.When, c.AfterMS = whenStart, r.IntN(2500)
	default:
		c.When, c.Done, c.AfterMS = whenDone, 1+r.IntN(s.steps()-2), r.IntN(400)
	}
	return c
}

// awayTimes is how often a cycle has each fault that takes the store away: at least 40 of the 100 rounds of two cycles.
const awayTimes = 7

// cycle returns the order of the faults in a seed's n-th cycle: each once or awayTimes, rare faults not in every cycle.
func (h *harness) cycle(seed uint64, n int) []*fault {
	var order []*fault
	for i := range faults {
		f := &faults[i]
		switch {
		case f.small != "" && !h.mounts, f.rare > 0 && n%f.rare != 0:
		case f.away:
			order = append(order, slices.Repeat([]*fault{f}, awayTimes)...)
		default:
			order = append(order, f)
		}
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// faultOf returns the fault of a round by its number.
func (h *harness) faultOf(seed uint64, n int) *fault {
	for c := 0; ; c++ {
		order := h.cycle(seed, c)
		if n < len(order) {
			return order[n]
		}
		n -= len(order)
	}
}
