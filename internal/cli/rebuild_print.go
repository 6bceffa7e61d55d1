package cli

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/alike"
	"github.com/redsi/redsi/internal/view"
)

// printRebuilt prints a step that was run again.
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
		word += " but for what tells of the run in " + strings.Join(times, ", ")
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

// printDetail says where a file differs, what would allow that, and how to get both.
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
		view.Printf(a.Out, "         if that may be: compare = { %q = %s }\n", name, d.Allow)
	}
	view.Printf(a.Out, "         the one that stands: %s\n", a.hint("artifacts get", d.Stands.String(), "stands"))
	view.Printf(a.Out, "         the one that was made: %s\n", a.hint("artifacts get", d.Made.String(), "made"))
}

// some are the first of a list, and how many more there are.
func some(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// leftOutShown is how many steps are named that there was no time for.
const leftOutShown = 10

// printRebuiltEnd says what came of all.
func (a *app) printRebuiltEnd(r rebuiltAll, o rebuildOptions) {
	total := 0.0
	for _, l := range r.LeftOut {
		total += l.ExpectsS
	}
	if n := len(r.LeftOut); n > 0 {
		view.Printf(a.Out, "left out, for a budget of %s: %s, which took %s\n", view.Seconds(o.budget), view.Count(n, "step"), view.Seconds(seconds(total)))
		for _, l := range r.LeftOut[:min(n, leftOutShown)] {
			view.Printf(a.Out, "       %s  %s\n", l.Address, view.Seconds(seconds(l.ExpectsS)))
		}
		if n > leftOutShown {
			view.Printf(a.Out, "       and %d more: --json names each\n", n-leftOutShown)
		}
	}
	attested := "attested, not signed: there is no signing key"
	if r.Signer != "" {
		name, _, _ := strings.Cut(r.Signer, ":")
		attested = "attested, signed by " + name
	}
	if r.Same+r.Within+r.Differs == 0 {
		attested = "nothing is attested"
	}
	view.Printf(a.Out, "%s: %d same bytes, %d within, %d different; %s\n", view.Count(len(r.Steps), "step"), r.Same, r.Within, r.Differs, attested)
}
