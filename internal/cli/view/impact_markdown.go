package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/markdown"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/system/words"
)

// markdownSteps bounds the steps that are listed for a pull request.
const markdownSteps = 100

// ImpactMarkdown writes what a change costs for a pull request. It does not depend on when it
// was written, and everything from the pipeline is escaped.
func ImpactMarkdown(w io.Writer, r *impact.Report) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format, args...) }
	p("## What this change costs\n\n%s → %s\n\n", markdown.Text(r.A), markdown.Text(r.B))
	p("**%s**", markdown.Text(ImpactSentence(r)))
	if r.Cost.Steps > 0 {
		p(" Expected: %s.", markdown.Text(impactCost(r.Cost)))
	}
	p("\n")
	if len(r.Tables) > 0 {
		p("\n| table or figure | after | steps | expected | claims |\n|---|---|---|---|--:|\n")
		for _, t := range r.Tables {
			cost := ""
			if t.Cost.Steps > 0 {
				cost = impactCost(t.Cost)
			}
			p("| %s | %s | %s | %s | %d |\n", markdown.CodeCell(t.Address), strings.ToUpper(impactOutcome(t.After)), markdown.Text(impactCounts(t.Counts)), markdown.Text(cost), t.Claims)
		}
	}
	if len(r.Causes) > 0 {
		p("\n| what changes | where | steps | makes run |\n|---|---|--:|---|\n")
		for _, c := range words.First(r.Causes, impactShown, func(n int) { p("| and %s more | | | |\n", Count(n, "cause")) }) {
			what := markdown.Text(c.Text)
			if c.Block != "" {
				what = markdown.CodeCell(c.Block) + " " + what
			}
			place := ""
			if c.Where != "" {
				place = markdown.CodeCell(c.Where)
			}
			p("| %s | %s | %d | %s |\n", what, place, c.Steps, markdown.Text(moves(c.Moves)))
		}
	}
	if len(r.Claims) > 0 {
		p("\nClaims of the paper that these tables hold:\n\n")
		for _, c := range words.First(r.Claims, impactShown, func(n int) { p("- and %s more\n", Count(n, "claim")) }) {
			p("- %s: %s\n", markdown.Code(c.Table), markdown.Text(c.Text))
		}
	}
	if len(r.Each) > 0 {
		p("\n<details><summary>%s</summary>\n\n", Count(len(r.Each), "step"))
		for _, c := range words.First(r.Each, markdownSteps, func(n int) { p("- and %s more\n", Count(n, "step")) }) {
			before, after := strings.ToUpper(string(c.Before)), strings.ToUpper(string(c.After))
			if c.Stood {
				before = "HIT"
			}
			p("- %s: %s → %s\n", markdown.Code(c.Address), cmp.Or(before, "new"), cmp.Or(after, "gone"))
		}
		p("\n</details>\n")
	}
	for _, n := range r.Notes {
		p("\n%s\n", markdown.Text(n))
	}
}
