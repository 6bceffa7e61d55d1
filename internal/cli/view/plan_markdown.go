package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/paper/markdown"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// PlanMarkdown writes a plan for a pull request: what runs, why, and what it costs; what is left
// out; and what is lacking, if it is.
func PlanMarkdown(w io.Writer, v *plan.Preview, f PlanFacts, lacks error) error {
	var d comment
	d.p("## What there is to run\n\n**%s.**", markdown.Text(planSentence(v, f)))
	f.Why = maps.Clone(f.Why)
	for i, x := range f.Failed {
		x.Ended = time.Time{} // a comment that nothing changed stays as it is
		f.Why[i] = x.String()
	}
	e := f.Estimate
	if e.Steps > 0 {
		d.p(" Expected: %s.", markdown.Text(impactCost(e.Cost)))
	}
	if f.Others != nil && len(f.Others.Fetch) > 0 {
		d.p(" To fetch from other stores: %s.", Size(f.Others.Bytes()))
	}
	d.p("\n")
	var said []string // what hinders, by its importance
	if lacks != nil {
		said = strings.Split(lacks.Error(), "\n")
	}
	for _, i := range slices.Sorted(maps.Keys(f.Unfit)) {
		said = append(said, f.Unfit[i])
	}
	for i, it := range v.Items {
		for _, fails := range it.Snags().Fails {
			said = append(said, v.Plan.Steps[i].Address+": "+fails)
		}
	}
	if len(said) > 0 {
		d.p("\n")
		d.rows(len(said), impactShown, "line", "- and %s more\n", func(i int) string { return "- " + markdown.Text(strings.TrimSpace(said[i])) + "\n" })
	}
	if rows := blockRows(v, f); len(rows) > 0 {
		d.p("\n| block | steps | expected | why |\n|---|---|---|---|\n")
		d.rows(len(rows), markdownSteps, "block", "| and %s more | | | |\n", func(i int) string {
			r := rows[i]
			return fmt.Sprintf("| %s | %s | %s | %s |\n", markdown.CodeCell(r.Name), r.counts, markdown.Text(costs(r.Group)), markdown.Text(clip(r.note)))
		})
	}
	if left := v.Plan.Skipped; len(left) > 0 {
		d.p("\nLeft out:\n\n")
		d.rows(len(left), impactShown, "step", "- and %s more\n", func(i int) string {
			return fmt.Sprintf("- %s: %s\n", markdown.Code(left[i].Address), markdown.Text(clip(left[i].Reason())))
		})
	}
	var todo []int
	for i, it := range v.Items {
		if it.Outcome != plan.Hit {
			todo = append(todo, i)
		}
	}
	d.steps(len(todo), func(n int) string {
		i := todo[n]
		return fmt.Sprintf("- %s %s: %s\n", strings.ToUpper(string(v.Items[i].Outcome)), markdown.Code(v.Plan.Steps[i].Address), markdown.Text(clip(stepNote(v, f, i))))
	})
	_, err := io.WriteString(w, d.String())
	return err
}
