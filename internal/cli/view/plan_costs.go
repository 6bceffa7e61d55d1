package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
)

func planCosts(w io.Writer, v *plan.Preview, st PlanStyle, f PlanFacts) {
	e := f.Estimate
	known := e.Steps - e.Unknown
	if known > 0 && e.Unknown > 0 {
		Printf(w, "unknown   %d of %s have no history, and are in no sum of times below\n", e.Unknown, Count(e.Steps, "step"))
	}
	unpriced(w, e)
	if known == 0 {
		Printf(w, "work      unknown: no history for %s\n", Count(e.Steps, "step"))
	} else {
		by := basesOf(v, e)
		own, rated := by[estimate.Itself], by[estimate.Rates]
		Printf(w, "work      %s for %d of %s, %d by their own history and %d by that of similar steps", spread(e.P50, e.P90),
			known, Count(e.Steps, "step"), own, known-own-rated)
		printIf(w, rated > 0, ", %d by measured rates", rated)
		Println(w)
	}
	by, card := e.By(), false
	for _, r := range by {
		Printf(w, "rates     of %s\n", r)
		card = card || r.Card
	}
	switch known := e.GPUSteps - e.GPUUnknown; {
	case known > 0:
		Printf(w, "gpu       %.1f h for %d of %s", e.GPU, known, Count(e.GPUSteps, "step"))
		printIf(w, len(by) > 0 && !card, ", on the processors")
		Println(w)
	case e.GPUSteps > 0:
		Printf(w, "gpu       unknown for %s\n", Count(e.GPUSteps, "step"))
	}
	printIf(w, f.Price >= 0, "cost      $%s for these hours at $%.2f\n", humanize.Comma(int64(f.Price*e.GPU+0.5)), f.Price)
	if known > 0 {
		Printf(w, "wall      at least %s with %s", words.Took(e.Wall(f.Slots, f.GPUSlots)), Count(f.Slots, "slot"))
		printIf(w, e.GPUSteps > 0, " and %s", Count(f.GPUSlots, "GPU slot"))
		Printf(w, "; the longest chain takes %s\n", words.Took(e.Critical))
	}
	printChain(w, v, st, e)
	switch {
	case e.Unsized == e.Steps:
		Printf(w, "disk      unknown: no result has a known size")
	case e.Unsized > 0:
		Printf(w, "disk      %s of results, and those of %s of unknown size", Size(e.Bytes), Count(e.Unsized, "step"))
	default:
		Printf(w, "disk      %s of results", Size(e.Bytes))
	}
	printIf(w, f.Free >= 0, "; the store has %s free", Size(f.Free))
	Println(w)
	printIf(w, !f.fits(), "%s  not enough space: %s more needed\n", st.Outcome("failed", "FULL"), Size(e.Bytes-f.Free))
	if e.Memory > 0 {
		of := either(e.Each[e.MemoryOf].MemoryBasis == estimate.Rates, "measured", "p90")
		Printf(w, "memory    %s at its peak, for %s (%s)", Size(e.Memory), v.Plan.Steps[e.MemoryOf].Address, of)
		printIf(w, e.MemoryUnknown > 0, "; unknown for %s", Count(e.MemoryUnknown, "step"))
		Println(w)
	}
	if e.Sources > 0 {
		Printf(w, "download  %s from %s", Size(e.Download), Count(e.Sources-e.Unfetched, "source"))
		printIf(w, e.Unfetched > 0, ", and %s of unknown size", Count(e.Unfetched, "source"))
		Println(w)
	}
}

// unpriced says why steps that say their work have no time, the most frequent reasons first.
func unpriced(w io.Writer, e *estimate.Estimate) {
	steps := map[string]int{}
	for _, x := range e.Each {
		if x.Why != "" {
			steps[x.Why]++
		}
	}
	whys := slices.SortedFunc(maps.Keys(steps), func(a, b string) int {
		return cmp.Or(steps[b]-steps[a], strings.Compare(a, b))
	})
	for _, why := range words.First(whys, 3, func(n int) { Printf(w, "unknown   for %s more: --json has them\n", Count(n, "reason")) }) {
		Printf(w, "unknown   %s: %s\n", Count(steps[why], "step"), why)
	}
}

// printChain names the steps of the longest chain, all of them with Verbose.
func printChain(w io.Writer, v *plan.Preview, st PlanStyle, e *estimate.Estimate) {
	path := e.CriticalPath
	if !st.Verbose {
		names := v.Plan.Addresses(path)
		if n := len(names); n > 4 {
			names = slices.Concat(names[:2], []string{"…"}, names[n-2:])
		}
		Printf(w, "chain     %s: %s", Count(len(path), "step"), strings.Join(names, " → "))
		printIf(w, e.CriticalUnknown > 0, " (%d without history)", e.CriticalUnknown)
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

func Cost(e *estimate.Estimate) string {
	var s strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&s, "  %-10s "+format+"\n", append([]any{what}, args...)...)
	}
	fmt.Fprintf(&s, "This run is large: %s to do.\n", Count(e.Steps, "step"))
	if known := e.Steps - e.Unknown; known > 0 {
		line("work", "%s; %s if every step is slow", words.Took(e.P50), words.Took(e.P90))
	}
	if e.GPU > 0 {
		line("on GPUs", "%s of it", words.Took(e.GPU*time.Hour.Seconds()))
	}
	if e.Unknown > 0 {
		line("unknown", "%s without history", Count(e.Unknown, "step"))
	}
	if e.Sources > 0 {
		var parts []string
		if known := e.Sources - e.Unfetched; known > 0 {
			parts = append(parts, Size(e.Download)+" from "+Count(known, "source"))
		}
		if e.Unfetched > 0 {
			parts = append(parts, Count(e.Unfetched, "source")+" of unknown size")
		}
		line("download", "%s", strings.Join(parts, ", "))
	}
	if e.Bytes > 0 {
		text := Size(e.Bytes)
		if e.Unsized > 0 {
			text += ", not counting " + Count(e.Unsized, "step") + " of unknown size"
		}
		line("results", "%s", text)
	}
	return s.String()
}
