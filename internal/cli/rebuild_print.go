package cli

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/alike"
)

// printRebuilt prints the outcome of a step that was run again.
func (a *app) printRebuilt(r rebuilt) {
	word := string(r.Verdict)
	switch r.Verdict {
	case "":
		view.Printf(a.Out, "%s  FAILED: %s\n", r.Address, r.Error)
		return
	case alike.Differs:
		word = "DIFFERS"
	}
	if times := (alike.Comparison{Outputs: r.Outputs}).OfTheRun(); len(times) > 0 {
		word += " except for values specific to the run in " + strings.Join(times, ", ")
	}
	view.Printf(a.Out, "%s  %s, %s\n", r.Address, word, view.Seconds(seconds(r.TookS)))
	for _, f := range r.Outputs {
		if f.Verdict == alike.Same {
			continue
		}
		view.Printf(a.Out, "       output %s: %s\n", f.Output, f.Verdict)
		if f.Worst != nil {
			view.Printf(a.Out, "         %s\n", f.Worst)
		}
		if f.Verdict == alike.Differs {
			view.Printf(a.Out, "         compared by %s\n", f.Rule)
		}
		if n := len(f.By); n > 0 {
			view.Printf(a.Out, "         both were evaluated by %s\n", some(f.By, 3))
		}
	}
	for _, d := range r.Details {
		a.printDetail(d)
	}
	if r.More > 0 {
		view.Printf(a.Out, "       and %s more that differ\n", view.Count(r.More, "file"))
	}
}

// printDetail says where a file differs, what would allow it, and how to get both versions.
func (a *app) printDetail(d alike.Detail) {
	name := d.File
	if name == "" {
		name = d.Output
	}
	view.Printf(a.Out, "       %s\n", name)
	for _, p := range d.Places {
		view.Printf(a.Out, "         %s\n", p)
	}
	if d.More > 0 {
		view.Printf(a.Out, "         and %d more\n", d.More)
	}
	if d.Allow != "" {
		view.Printf(a.Out, "         to allow that: compare = { %q = %s }\n", name, d.Allow)
	}
	view.Printf(a.Out, "         the existing one: %s\n", a.hint("artifacts get", d.Stands.String(), "stands"))
	view.Printf(a.Out, "         the new one: %s\n", a.hint("artifacts get", d.Made.String(), "made"))
}

// some are the first elements of a list, and how many more there are.
func some(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// leftOutShown is how many steps left out for lack of time are named.
const leftOutShown = 10

// printRebuiltEnd prints the summary.
func (a *app) printRebuiltEnd(r rebuiltAll, o rebuildOptions) {
	total := 0.0
	for _, l := range r.LeftOut {
		total += l.ExpectsS
	}
	if n := len(r.LeftOut); n > 0 {
		view.Printf(a.Out, "left out, with a budget of %s: %s, which took %s\n", view.Seconds(o.budget), view.Count(n, "step"), view.Seconds(seconds(total)))
		for _, l := range r.LeftOut[:min(n, leftOutShown)] {
			view.Printf(a.Out, "       %s  %s\n", l.Address, view.Seconds(seconds(l.ExpectsS)))
		}
		if n > leftOutShown {
			view.Printf(a.Out, "       and %d more: --json lists all\n", n-leftOutShown)
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
	view.Printf(a.Out, "%s: %d same bytes, %d within tolerance, %d different; %s\n", view.Count(len(r.Steps), "step"), r.Same, r.Within, r.Differs, attested)
}
