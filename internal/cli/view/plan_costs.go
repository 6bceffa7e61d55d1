package view

import (
	"io"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// planCosts prints the expected cost of all steps that are not hits.
func planCosts(w io.Writer, v *plan.Preview, st PlanStyle, f PlanFacts) {
	e := f.Estimate
	known := e.Steps - e.Unknown
	switch {
	case known == 0:
		Printf(w, "work      unknown: no history for %s\n", Count(e.Steps, "step"))
	default:
		own := basesOf(v, e)[estimate.Itself]
		Printf(w, "work      %s for %d of %s, %d by their own history and %d by that of similar steps", spread(e.WorkP50, e.WorkP90),
			known, Count(e.Steps, "step"), own, known-own)
		if e.Unknown > 0 {
			Printf(w, "; %d have none and are not counted", e.Unknown)
		}
		Println(w)
	}
	if e.GPUSteps > 0 {
		Printf(w, "gpu       %.1f h for %d of %s\n", e.GPUHours(), e.GPUSteps-e.GPUUnknown, Count(e.GPUSteps, "step"))
	}
	if known > 0 {
		Printf(w, "wall      at least %s with %s", Seconds(e.Wall(f.Slots, f.GPUSlots)), Count(f.Slots, "slot"))
		if e.GPUSteps > 0 {
			Printf(w, " and %s", Count(f.GPUSlots, "GPU slot"))
		}
		Printf(w, "; the longest chain takes %s\n", Seconds(e.Critical))
	}
	printChain(w, v, st, e)
	switch {
	case e.BytesUnknown == e.Steps:
		Printf(w, "disk      unknown: no result has a known size")
	case e.BytesUnknown > 0:
		Printf(w, "disk      %s of results, and those of %s of unknown size", Size(e.Bytes), Count(e.BytesUnknown, "step"))
	default:
		Printf(w, "disk      %s of results", Size(e.Bytes))
	}
	if f.Free >= 0 {
		Printf(w, "; the store has %s free", Size(f.Free))
	}
	Println(w)
	if !f.fits() {
		Printf(w, "%s  not enough space: %s more needed\n", st.Outcome("failed", "FULL"), Size(e.Bytes-f.Free))
	}
	if e.Memory > 0 {
		Printf(w, "memory    %s at its peak, for %s (p90)", Size(e.Memory), v.Plan.Steps[e.MemoryOf].Address)
		if e.MemoryUnknown > 0 {
			Printf(w, "; unknown for %s", Count(e.MemoryUnknown, "step"))
		}
		Println(w)
	}
	if d := e.Download; d.Sources > 0 {
		Printf(w, "download  %s from %s", Size(d.Bytes), Count(d.Sources-d.Unknown, "source"))
		if d.Unknown > 0 {
			Printf(w, ", and %s of unknown size", Count(d.Unknown, "source"))
		}
		Println(w)
	}
}

// printChain names the steps of the longest chain, all of them with Verbose.
func printChain(w io.Writer, v *plan.Preview, st PlanStyle, e *estimate.Estimate) {
	path := e.CriticalPath
	if !st.Verbose {
		var names []string
		for n, i := range path {
			if len(path) > 4 && n == 2 {
				names = append(names, "…")
			}
			if len(path) <= 4 || n < 2 || n >= len(path)-2 {
				names = append(names, v.Plan.Steps[i].Address)
			}
		}
		Printf(w, "chain     %s: %s", Count(len(path), "step"), strings.Join(names, " → "))
		if e.CriticalUnknown > 0 {
			Printf(w, " (%d without history)", e.CriticalUnknown)
		}
		Println(w)
		return
	}
	Printf(w, "chain     %s\n", Count(len(path), "step"))
	for _, i := range path {
		took := "no history"
		if x := e.Each[i]; x.Basis != estimate.Nothing {
			took = Seconds(x.P50)
		}
		Printf(w, "          %12s  %s\n", took, v.Plan.Steps[i].Address)
	}
}
