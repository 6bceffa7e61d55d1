package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
)

// Impact prints what a change costs: the causes, the tables that they affect, and the sum; with all, each step.
func Impact(w io.Writer, r *impact.Report, st Style, all bool) {
	Printf(w, "%s -> %s\n", r.A, r.B)
	most := bound(impactShown, all)
	for _, c := range words.First(r.Causes, most, func(n int) { Printf(w, "       and %s more\n", Count(n, "cause")) }) {
		Printf(w, "%s  %s", st.Bold(cmp.Or(c.Block, "redsi")), c.Text)
		printIf(w, c.Where != "", "  %s", st.Dim(c.Where))
		Printf(w, "\n       changes %s, makes %s\n", Count(c.Steps, "step"), moves(c.Moves))
	}
	impactTables(w, r, st)
	for _, c := range words.First(r.Claims, most, func(n int) { Printf(w, "       and %s more\n", Count(n, "claim")) }) {
		Printf(w, "claim  %s: %s\n", c.Table, c.Text)
	}
	if all {
		impactSteps(w, r, st)
	}
	PrintEach(w, "note: %s\n", r.Notes)
	Printf(w, "%s\n", ImpactSentence(r))
	printIf(w, r.Cost.Steps > 0, "cost: %s\n", impactCost(r.Cost))
	printIf(w, !all && len(r.Each) > 0, "--verbose lists each step.\n")
}

func impactTables(w io.Writer, r *impact.Report, st Style) {
	width := widest(r.Tables, func(t impact.Table) string { return t.Address })
	for _, t := range r.Tables {
		outcome := impactOutcome(t.After)
		note := impactCounts(t.Counts)
		if t.Cost.Steps > 0 {
			note += "; " + impactCost(t.Cost)
		}
		if t.Claims > 0 {
			note += "; " + Count(t.Claims, "claim")
		}
		Printf(w, "%s  %s  %s\n", st.Outcome(outcome, strings.ToUpper(outcome)), pad(t.Address, width), note)
	}
}

func impactOutcome(after plan.Outcome) string { return string(cmp.Or(after, "gone")) }

func impactSteps(w io.Writer, r *impact.Report, st Style) {
	for _, c := range r.Each {
		after := impactOutcome(c.After)
		before := either(c.Before != "" && c.Stood, plan.Hit, cmp.Or(c.Before, "new"))
		Printf(w, "%s  %s  was %s", st.Outcome(after, strings.ToUpper(after)), c.Address, before)
		if c.Expect != nil {
			Printf(w, ", about %s", words.Took(*c.Expect))
		}
		for _, n := range words.First(c.Causes, 3, func(n int) { Printf(w, "; %d more", n) }) {
			Printf(w, "; %s", strings.TrimSpace(r.Causes[n].Block+" "+r.Causes[n].Text))
		}
		Println(w)
	}
}

func ImpactSentence(r *impact.Report) string {
	n := r.Steps
	parts := words.Counts([]words.Number{{N: n.Run, Of: "from HIT to RUN"}, {N: n.Maybe, Of: "from HIT to MAYBE"}, {N: n.New, Of: "new and to run"}, {N: n.Hit, Of: "to HIT"}, {N: n.Cut, Of: "HIT under another key"}, {N: n.Gone, Of: "gone"}}...)
	text := either(len(r.Causes) > 0, "no step loses its result", "no step changes")
	if len(parts) > 0 {
		text = Count(n.Same+n.Run+n.Maybe+n.New+n.Hit+n.Cut+n.Anyway, "step") + ": " + strings.Join(parts, ", ")
	}
	if n.Anyway > 0 {
		text += fmt.Sprintf("; %d would run without the change too", n.Anyway)
	}
	return text + "."
}

func impactCounts(n impact.Counts) string {
	return strings.Join(words.Counts([]words.Number{{N: n.Run, Of: "run"}, {N: n.Maybe, Of: "maybe"}, {N: n.New, Of: "new"}, {N: n.Hit, Of: "to hit"}, {N: n.Cut, Of: "hit under another key"}, {N: n.Gone, Of: "gone"}, {N: n.Anyway, Of: "anyway"}}...), ", ")
}

func moves(c estimate.Cost) string {
	if c.Steps == 0 {
		return "nothing run"
	}
	return Count(c.Steps, "step") + " run: " + impactCost(c)
}

func impactCost(c estimate.Cost) string {
	var b strings.Builder
	if c.Unknown == c.Steps {
		b.WriteString("no history")
	} else {
		b.WriteString(spread(c.P50, c.P90))
	}
	printIf(&b, c.GPU > 0, ", %.1f h of it on GPUs", c.GPU)
	printIf(&b, c.Unsized < c.Steps, ", %s", Size(c.Bytes))
	printIf(&b, c.Download > 0, ", %s to download", Size(c.Download))
	printIf(&b, c.Unfetched > 0, ", %s of unknown size", Count(c.Unfetched, "source"))
	printIf(&b, c.Unknown > 0 && c.Unknown < c.Steps, " (%d of %d known)", c.Steps-c.Unknown, c.Steps)
	return b.String()
}
