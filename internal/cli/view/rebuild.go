package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/words"
)

// RebuiltStep prints the outcome of a step that was run again.
func RebuiltStep(w io.Writer, r rebuild.Step, hint func(verb string, args ...string) string) {
	word := string(r.Verdict)
	switch r.Verdict {
	case "":
		Printf(w, "%s  FAILED: %s\n", r.Address, r.Error)
		return
	case alike.Differs:
		word = "DIFFERS"
	}
	if times := (alike.Comparison{Outputs: r.Outputs}).OfTheRun(); len(times) > 0 {
		word += " except for values specific to the run in " + strings.Join(times, ", ")
	}
	Printf(w, "%s  %s, %s\n", r.Address, word, words.Took(r.TookS))
	for _, f := range r.Outputs {
		if f.Verdict == alike.Same {
			continue
		}
		Printf(w, "       output %s: %s\n", f.Output, f.Verdict)
		if f.Worst != nil {
			Printf(w, "         %s\n", f.Worst)
		}
		if f.Verdict == alike.Differs {
			Printf(w, "         compared by %s\n", f.Rule)
		}
		if n := len(f.By); n > 0 {
			Printf(w, "         both were evaluated by %s\n", words.And(f.By, 3))
		}
	}
	for _, d := range r.Details {
		printDetail(w, d, hint)
	}
	if r.More > 0 {
		Printf(w, "       and %s more that differ\n", Count(r.More, "file"))
	}
}

// printDetail says where a file differs, what would allow it, and how to get both versions.
func printDetail(w io.Writer, d alike.Detail, hint func(verb string, args ...string) string) {
	name := cmp.Or(d.File, d.Output)
	Printf(w, "       %s\n", name)
	for _, p := range d.Places {
		Printf(w, "         %s\n", p)
	}
	if d.More > 0 {
		Printf(w, "         and %d more\n", d.More)
	}
	if d.Allow != "" {
		Printf(w, "         to allow that: compare = { %q = %s }\n", name, d.Allow)
	}
	Printf(w, "         the existing one: %s\n", hint("artifacts get", d.Stands.String(), "stands"))
	Printf(w, "         the new one: %s\n", hint("artifacts get", d.Made.String(), "made"))
}

// leftOutShown is how many steps left out for lack of time are named.
const leftOutShown = 10

// RebuiltAll prints the summary of steps that were run again within a budget.
func RebuiltAll(w io.Writer, r *rebuild.All, budget time.Duration) {
	total := 0.0
	for _, l := range r.LeftOut {
		total += l.ExpectsS
	}
	if n := len(r.LeftOut); n > 0 {
		Printf(w, "left out, with a budget of %s: %s, which took %s\n", Seconds(budget), Count(n, "step"), words.Took(total))
		for _, l := range words.First(r.LeftOut, leftOutShown, func(n int) { Printf(w, "       and %d more: --json lists all\n", n) }) {
			Printf(w, "       %s  %s\n", l.Address, words.Took(l.ExpectsS))
		}
	}
	attested := "attested, not signed (no signing key)"
	if r.Signer != "" {
		name, _, _ := strings.Cut(r.Signer, ":")
		attested = "attested, signed by " + name
	}
	if r.Same+r.Within+r.Differs == 0 {
		attested = "nothing is attested"
	}
	Printf(w, "%s: %d same bytes, %d within tolerance, %d different; %s\n", Count(len(r.Steps), "step"), r.Same, r.Within, r.Differs, attested)
}

// Compared reports how other stores' results compare with what ran here: how many are
// the same or within tolerance, and each that is not.
func Compared(w io.Writer, all []rebuild.Compared, stores []artifacts.Other) {
	type count struct{ same, within int }
	counts := map[string]*count{}
	for _, o := range stores {
		counts[o.Name] = &count{}
	}
	for _, c := range all {
		switch c.Verdict {
		case alike.Same:
			counts[c.From].same++
		case alike.Within:
			counts[c.From].within++
		default:
			Printf(w, "%s  DIFFERS from the result in %s\n", c.Address, c.From)
			if c.Worst != nil {
				Printf(w, "       %s\n", c.Worst)
			}
		}
	}
	var names []string
	for _, o := range stores {
		if n := counts[o.Name]; n.same+n.within > 0 {
			names = append(names, fmt.Sprintf("%s of %s (%d the same bytes, %d within tolerance)", Count(n.same+n.within, "result"), o.Name, n.same, n.within))
		}
	}
	if len(names) > 0 {
		Printf(w, "results made here agree with %s\n", strings.Join(names, " and "))
	}
}
