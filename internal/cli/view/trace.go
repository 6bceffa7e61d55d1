package view

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
)

// leavesShown bounds the configuration that Trace shows of a step.
const leavesShown = 12

// Cells lists what can be traced in a table or figure, a line each, and how.
func Cells(w io.Writer, l *report.CellList, address string, hint func(verb string, args ...string) string) {
	Printf(w, "%s  %s x %s\n", address, Count(l.Rows, "row"), Count(l.Columns, "column"))
	width := 0
	for _, c := range l.Cells {
		width = max(width, len(shellwords.Quote(c.Name)))
	}
	for _, c := range l.Cells {
		Printf(w, "%-*s  %s\n", width, shellwords.Quote(c.Name), c.Text)
	}
	if len(l.Cells) > 0 {
		Printf(w, "to trace one of them: %s\n", hint("trace", l.Cells[0].Name))
	}
}

// Trace prints where a number comes from.
func Trace(w io.Writer, t *report.Trace) {
	Printf(w, "%s:%s = ", t.Address, t.Cell)
	switch {
	case t.Value != nil && t.Std != nil:
		Printf(w, "%v ± %v (n=%d)", *t.Value, *t.Std, t.N)
	case t.Typed != "":
		Printf(w, "%s", t.Typed)
	case t.Value != nil:
		Printf(w, "%v", *t.Value)
	default:
		Printf(w, "%s", t.Text)
	}
	if t.Check != nil {
		Printf(w, "   %s %s, %s", t.Check.Whose(), t.Check.PaperSays(), t.Check.Verdict)
	}
	Println(w)
	for _, c := range t.Claims {
		Printf(w, "  claim %s: %s  “%s”\n", c.Name, c.Verdict, c.Text)
	}
	if len(t.Sources) == 0 {
		Println(w, "  a constant of the pipeline, not computed from any artifact")
	}
	for _, s := range t.Sources {
		from := "from"
		if s.Same {
			from = "or, with the same bytes, from"
		}
		field := ""
		if len(s.Fields) > 0 {
			field = "  field " + strings.Join(s.Fields, ", ")
		}
		Printf(w, "  %s %s.%s%s  %s\n", from, s.Step, s.Output, field, s.Digest)
	}
	Println(w)
	TracedSteps(w, t.Steps)
}

// TracedSteps prints steps with their inputs, configuration, outputs and resources.
func TracedSteps(w io.Writer, steps []report.Node) {
	for i, n := range steps {
		if i > 0 {
			Println(w)
		}
		Printf(w, "%s  (%s, %s)\n  key %s\n  run %s  %s\n  took %s, %s\n", n.Address, n.Kind, n.Place, n.Key, n.Run, n.Workflow, words.Took(n.TookS), Size(n.Bytes))
		if n.Accepted != nil {
			Printf(w, "  %s\n  made under key %s\n", n.Accepted.Sentence(), n.Accepted.Of)
		}
		for _, l := range words.First(n.Config, leavesShown, func(n int) { Printf(w, "  … %d more values of its configuration\n", n) }) {
			Printf(w, "  %s = %s\n", l.Path, words.Clip(l.Value, 120))
		}
		for _, what := range slices.Sorted(maps.Keys(n.Counts)) {
			Printf(w, "  counted %s: %d\n", what, n.Counts[what])
		}
		for _, r := range usage.Rows(n.Used) {
			Printf(w, "  used %s: %s\n", r.What, r.Value)
		}
		for _, name := range slices.Sorted(maps.Keys(n.Notes)) {
			Printf(w, "  %s: %s\n", name, n.Notes[name])
		}
		if len(n.Packages) > 0 {
			Println(w, "  packages:", environment.Sentence(n.Packages, packagesShown))
		}
		if n.Rebuilt != nil {
			Rebuilt(w, "  ", n.Rebuilt)
		}
		for _, e := range n.Inputs {
			Printf(w, "  %s <- %s.%s  %s\n", e.Path, e.Step, e.Output, e.Digest)
		}
		for _, o := range n.Outputs {
			Printf(w, "  -> %s  %s  %s\n", o.Name, Size(o.Size), o.Digest)
		}
	}
}

// packagesShown bounds the packages that are printed of one step; --json has more.
const packagesShown = 50

// rebuiltShown bounds the attestations that are printed of one step; --json has more.
const rebuiltShown = 5

// Rebuilt prints the attestations of a result.
func Rebuilt(w io.Writer, indent string, t *attest.Told) {
	Printf(w, "%s%s\n", indent, t)
	for _, a := range t.List[:min(len(t.List), rebuiltShown)] {
		by := cmp.Or(a.By, "unnamed")
		if a.Signer == "" {
			by += ", unsigned"
		}
		worst := ""
		if a.Worst != nil {
			worst = ": " + a.Worst.String()
		}
		Printf(w, "%s  %s  %s, %s, on %s%s\n", indent, a.Verdict, by, a.When, a.Machine, worst)
	}
}
