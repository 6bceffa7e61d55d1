package view

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/why"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

func Why(w io.Writer, st Style, answers []why.Step, hint func(verb string, args ...string) string) {
	for _, x := range answers {
		Printf(w, "%s  %s\n", st.Outcome(string(x.Outcome), string(x.Outcome)), x.Address)
		if x.From != "" {
			text := "       its result is in " + x.From
			if x.Fetch != nil {
				text += ", " + Size(*x.Fetch) + " to fetch"
			}
			Println(w, text)
		}
		n := len(x.Lacks)
		printIf(w, n > 0, "       it is without %s, which %s: a run retries %s\n",
			words.And(x.Lacks, inputsShown), words.Of(n, "has no result", "have no results"), words.Of(n, "it", "them"))
		PrintEach(w, "       %s\n", x.Passed)
		printIf(w, x.Failed != nil, "       %s\n", x.Failed)
		switch {
		case x.Made != nil:
			printMade(w, x.Made)
		case x.Outcome == plan.Maybe:
			for _, d := range x.Waits {
				Printf(w, "       its key is not known until %s has run: %s\n", d, hint("why", d))
			}
		case len(x.Changes) == 0:
			Printf(w, "       %s\n", x.Reason)
		default:
			Printf(w, "       changed since run %s:\n", x.Against)
		}
		printChanges(w, st, x.Changes)
		PrintEach(w, "       in its key: %s\n", x.Counted)
		PrintEach(w, "       not in its key: %s\n", x.Unkeyed)
		printIf(w, x.Resumes != nil && x.Reason != x.Resumes.String(), "       %s\n", x.Resumes)
	}
}

func printMade(w io.Writer, m *why.Made) {
	Printf(w, "       made by run %s, finished %s, took %s, by redsi %s\n", m.Run, m.Finished.Local().Format(time.DateTime), words.Took(m.TookS), m.Revision)
	printIf(w, m.As != "", "       as %s: names are not part of keys\n", m.As)
	if x := m.Accepted; x != nil { // the result of another key is used
		Printf(w, "       %s (%s)\n", x.Sentence(), x.When.Local().Format(time.DateTime))
		Printf(w, "       it was made under key %s; differences accepted as irrelevant:\n", x.Of.Short())
		for _, c := range x.Changes {
			Printf(w, "       %s\n", step.Change{Path: c.Path, Old: c.Old, New: c.New})
		}
		return
	}
	Printf(w, "       unchanged since: its kind, its configuration and the bytes of its inputs (key %s)\n", m.Key.Short())
	if m.Rebuilt != nil {
		Rebuilt(w, "       ", m.Rebuilt)
	}
	for _, in := range words.First(m.Inputs, inputsShown, func(n int) { Printf(w, "       and %s more\n", Count(n, "input")) }) {
		Printf(w, "       %s <- %s.%s  %s\n", in.Path, in.Step, in.Output, shortDigest(in.Digest))
	}
}

func Acceptances(w io.Writer, all []artifacts.AcceptedNow) {
	for _, x := range all {
		state := "stands"
		if x.Ended != nil {
			state = "revoked by " + x.Ended.By + ", " + x.Ended.When.Local().Format(time.DateTime)
		}
		Printf(w, "%s  %s  %s, %s; %s\n", x.Key.Short(), x.Step, x.Sentence(), x.When.Local().Format(time.DateTime), state)
	}
	Printf(w, "%s.\n", Count(len(all), "acceptance"))
}

func printChanges(w io.Writer, st Style, changes []why.Change) {
	for _, c := range changes {
		Printf(w, "       %s", c.Change)
		printIf(w, c.Where != "", "  %s", st.Dim(c.Where))
		Println(w)
	}
}

func WhyRan(w io.Writer, st Style, answers []why.Past) {
	for _, x := range answers {
		Printf(w, "%s  %s  %s\n", st.Outcome(string(x.Outcome), string(x.Outcome)), x.Address, st.Dim("in run "+x.Run))
		printIf(w, x.Reason != "", "       %s\n", Lines(x.Reason))
		if m := x.Made; m != nil {
			Printf(w, "       it had a result: made by run %s, finished %s, took %s\n", m.Run, m.Finished.Local().Format(time.DateTime), words.Took(m.TookS))
		}
		printIf(w, len(x.Changes) > 0, "       changed since run %s:\n", x.Against)
		printChanges(w, st, x.Changes)
	}
}

func Cells(w io.Writer, l *report.CellList, address string, hint func(verb string, args ...string) string) {
	Printf(w, "%s  %s x %s\n", address, Count(l.Rows, "row"), Count(l.Columns, "column"))
	width := widest(l.Cells, func(c report.CellName) string { return shellwords.Quote(c.Name) })
	for _, c := range l.Cells {
		Printf(w, "%s  %s\n", pad(shellwords.Quote(c.Name), width), c.Text)
	}
	if len(l.Cells) > 0 {
		Printf(w, "to trace one of them: %s\n", hint("trace", l.Cells[0].Name))
	}
}

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
	printIf(w, len(t.Sources) == 0, "  a constant of the pipeline, not computed from any artifact\n")
	for _, s := range t.Sources {
		from := either(s.Same, "or, with the same bytes, from", "from")
		field := ""
		if len(s.Fields) > 0 {
			field = "  field " + strings.Join(s.Fields, ", ")
		}
		Printf(w, "  %s %s.%s%s  %s\n", from, s.Step, s.Output, field, s.Digest)
	}
	Println(w)
	TracedSteps(w, t.Steps)
}

func TracedSteps(w io.Writer, steps []report.Node) {
	for i, n := range steps {
		printIf(w, i > 0, "\n")
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
		printIf(w, len(n.Packages) > 0, "  packages: %s\n", environment.Sentence(n.Packages, packagesShown))
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
