package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/markdown"
	"github.com/redsi/redsi/internal/pipeline/impact"
)

// ImpactMarkdown writes what a change costs for a pull request.
func ImpactMarkdown(w io.Writer, r *impact.Report) error {
	var d comment
	d.p("## What this change costs\n\n%s → %s\n\n", markdown.Text(r.A), markdown.Text(r.B))
	d.p("**%s**", markdown.Text(ImpactSentence(r)))
	if r.Cost.Steps > 0 {
		d.p(" Expected: %s.", markdown.Text(impactCost(r.Cost)))
	}
	d.p("\n")
	if len(r.Tables) > 0 {
		d.p("\n| table or figure | after | steps | expected | claims |\n|---|---|---|---|--:|\n")
		d.rows(len(r.Tables), len(r.Tables), "table", "| and %s more | | | | |\n", func(i int) string {
			t, cost := r.Tables[i], ""
			if t.Cost.Steps > 0 {
				cost = impactCost(t.Cost)
			}
			return fmt.Sprintf("| %s | %s | %s | %s | %d |\n", markdown.CodeCell(t.Address), strings.ToUpper(impactOutcome(t.After)), markdown.Text(impactCounts(t.Counts)), markdown.Text(cost), t.Claims)
		})
	}
	if len(r.Causes) > 0 {
		d.p("\n| what changes | where | steps | makes run |\n|---|---|--:|---|\n")
		d.rows(len(r.Causes), impactShown, "cause", "| and %s more | | | |\n", func(i int) string {
			c := r.Causes[i]
			what, place := markdown.Text(c.Text), ""
			if c.Block != "" {
				what = markdown.CodeCell(c.Block) + " " + what
			}
			if c.Where != "" {
				place = markdown.CodeCell(c.Where)
			}
			return fmt.Sprintf("| %s | %s | %d | %s |\n", what, place, c.Steps, markdown.Text(moves(c.Moves)))
		})
	}
	if len(r.Claims) > 0 {
		d.p("\nClaims of the paper that these tables hold:\n\n")
		d.rows(len(r.Claims), impactShown, "claim", "- and %s more\n", func(i int) string {
			return fmt.Sprintf("- %s: %s\n", markdown.Code(r.Claims[i].Table), markdown.Text(r.Claims[i].Text))
		})
	}
	d.steps(len(r.Each), func(i int) string {
		c := r.Each[i]
		before, after := strings.ToUpper(string(c.Before)), strings.ToUpper(string(c.After))
		if c.Stood {
			before = "HIT"
		}
		return fmt.Sprintf("- %s: %s → %s\n", markdown.Code(c.Address), cmp.Or(before, "new"), cmp.Or(after, "gone"))
	})
	d.rows(len(r.Notes), len(r.Notes), "note", "\n%s more.\n", func(i int) string { return "\n" + markdown.Text(r.Notes[i]) + "\n" })
	_, err := io.WriteString(w, d.String())
	return err
}
