package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/compare"
	"github.com/redsi/redsi/workflows"
)

// Bounds of what is shown of an output without --verbose.
const (
	valuesShown = 10
	linesShown  = 20
)

// compareRuns prints how two runs differ.
func (a *app) compareRuns(ctx context.Context, store artifacts.Store, x, y *workflows.RunRecord, all bool) error {
	ds, same, err := compare.Runs(ctx, store, compare.Differ(a.Differ(ctx, store)), x, y)
	if err != nil {
		return err
	}
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"a": x.RunID, "b": y.RunID, "same": same, "steps": ds})
	}
	a.printDiff(x.RunID, y.RunID, ds, same, all)
	return nil
}

func (a *app) printDiff(x, y string, ds []compare.Step, same int, all bool) {
	st := a.style(a.Out)
	view.Printf(a.Out, "%s -> %s\n", x, y)
	for _, d := range ds {
		view.Printf(a.Out, "%s  %s -> %s", st.Bold(d.Address), orNone(d.A), orNone(d.B))
		if d.Was != "" {
			view.Printf(a.Out, "  was %s", d.Was)
		}
		if d.Note != "" {
			view.Printf(a.Out, "  %s", st.Dim(d.Note))
		}
		view.Println(a.Out)
		for _, c := range d.Changes {
			view.Printf(a.Out, "       %s\n", c)
		}
		for _, o := range d.Outputs {
			if all || !o.Rendering {
				a.printOutput(o, all)
			}
		}
		for _, c := range d.Checks {
			view.Printf(a.Out, "       expected: %s -> %s  %s\n", cmp.Or(c.A, "none"), c.B, c.Said)
		}
	}
	differ := " differ"
	if len(ds) == 1 {
		differ = " differs"
	}
	view.Printf(a.Out, "%s, %d the same work.\n", view.Count(len(ds), "step")+differ, same)
}

func orNone(s workflows.Status) string {
	if s == "" {
		return "none"
	}
	return string(s)
}

// shortDigest is the first hex digits of a digest.
func shortDigest(d string) string {
	if d == "" {
		return "none"
	}
	return d[len("sha256:"):][:12]
}

// printOutput prints how one output differs; all: without bounds.
func (a *app) printOutput(o compare.Output, all bool) {
	st := a.style(a.Out)
	view.Printf(a.Out, "       output %s: %s -> %s", o.Output, shortDigest(o.A), shortDigest(o.B))
	if o.A != "" && o.B != "" && len(o.Values) == 0 && o.Lines == "" {
		view.Printf(a.Out, "  %s -> %s", view.Size(o.SizeA), view.Size(o.SizeB))
	}
	view.Println(a.Out)
	more := func(n int, what string) {
		if n > 0 {
			view.Printf(a.Out, "         %s\n", st.Dim(fmt.Sprintf("and %s more: --verbose shows all", view.Count(n, what))))
		}
	}
	values := o.Values
	if !all {
		values = values[:min(len(values), valuesShown)]
	}
	for _, v := range values {
		view.Printf(a.Out, "         %s: %s → %s\n", cmp.Or(v.Name, v.At), clip(cmp.Or(v.A, "none")), clip(v.After()))
	}
	more(len(o.Values)-len(values), "value")
	lines := strings.SplitAfter(o.Lines, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	shown := lines
	if !all {
		shown = lines[:min(len(lines), linesShown)]
	}
	for _, l := range shown {
		l = strings.TrimSuffix(l, "\n")
		if !all {
			l = clip(l)
		}
		view.Printf(a.Out, "         %s\n", l)
	}
	more(len(lines)-len(shown), "line")
}

// clip shortens a text to a readable line.
func clip(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
