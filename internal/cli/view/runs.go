package view

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/session/compare"
	"github.com/redsi/redsi/internal/system/words"
)

// Bounds of what is shown of an output, unless all is.
const (
	valuesShown = 10
	linesShown  = 20
)

// RunsDiffer prints how two runs differ, and how many of their steps do not.
func RunsDiffer(w io.Writer, st Style, x, y string, ds []compare.Step, same int, all bool) {
	Printf(w, "%s -> %s\n", x, y)
	for _, d := range ds {
		Printf(w, "%s  %s -> %s", st.Bold(d.Address), cmp.Or(d.A, "none"), cmp.Or(d.B, "none"))
		if d.Was != "" {
			Printf(w, "  was %s", d.Was)
		}
		if d.Note != "" {
			Printf(w, "  %s", st.Dim(d.Note))
		}
		Println(w)
		for _, c := range d.Changes {
			Printf(w, "       %s\n", c)
		}
		for _, o := range d.Outputs {
			if all || !o.Rendering {
				printOutput(w, st, o, all)
			}
		}
		for _, c := range d.Checks {
			Printf(w, "       expected: %s -> %s  %s\n", cmp.Or(c.A, "none"), c.B, c.Said)
		}
	}
	Printf(w, "%s %s, %d the same work.\n", Count(len(ds), "step"), words.Of(len(ds), "differs", "differ"), same)
}

// shortDigest is the first hex digits of a digest.
func shortDigest(d string) string {
	if d == "" {
		return "none"
	}
	return d[len("sha256:"):][:12]
}

// printOutput prints how one output differs; all: without bounds.
func printOutput(w io.Writer, st Style, o compare.Output, all bool) {
	Printf(w, "       output %s: %s -> %s", o.Output, shortDigest(o.A), shortDigest(o.B))
	if o.A != "" && o.B != "" && len(o.Values) == 0 && o.Lines == "" {
		Printf(w, "  %s -> %s", Size(o.SizeA), Size(o.SizeB))
	}
	Println(w)
	more := func(what string) func(n int) {
		return func(n int) {
			Printf(w, "         %s\n", st.Dim(fmt.Sprintf("and %s more: --verbose shows all", Count(n, what))))
		}
	}
	values, lines := valuesShown, linesShown
	if all {
		values, lines = math.MaxInt, math.MaxInt
	}
	for _, v := range words.First(o.Values, values, more("value")) {
		Printf(w, "         %s: %s → %s\n", cmp.Or(v.Name, v.At), clip(cmp.Or(v.A, "none")), clip(v.After()))
	}
	for _, l := range words.First(slices.Collect(strings.Lines(o.Lines)), lines, more("line")) {
		l = strings.TrimSuffix(l, "\n")
		if !all {
			l = clip(l)
		}
		Printf(w, "         %s\n", l)
	}
}

// clip shortens a text to a readable line.
func clip(s string) string { return words.Fit(s, 160) }
