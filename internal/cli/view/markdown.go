package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/paper/markdown"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
)

const (
	markdownSteps = 100    // steps and blocks that a comment lists
	commentMost   = 30_000 // bytes of a comment's lists; GitHub refuses 65,536 characters, and two of ours may be one of its
)

// comment is Markdown for a pull request. It does not depend on when it was written, its length is bounded, and its writers escape
// everything from the pipeline.
type comment struct{ strings.Builder }

func (c *comment) p(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// rows writes a line for each of n things, at most most and as far as there is room, and how many more there are by rest, a format.
func (c *comment) rows(n, most int, noun, rest string, line func(i int) string) {
	for i := range n {
		text := line(i)
		if i == most || c.Len()+len(text) > commentMost {
			c.p(rest, Count(n-i, noun))
			return
		}
		c.WriteString(text)
	}
}

// steps writes a list of n steps that is folded away.
func (c *comment) steps(n int, line func(i int) string) {
	if n > 0 {
		c.p("\n<details><summary>%s</summary>\n\n", Count(n, "step"))
		c.rows(n, markdownSteps, "step", "- and %s more\n", line)
		c.p("\n</details>\n")
	}
}

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

// PlanMarkdown writes a plan for a pull request: what runs, why, and what it costs; what is left out; and lacks, unless nil.
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
	said = append(said, lists.Map(slices.Sorted(maps.Keys(f.Unfit)), func(i int) string { return f.Unfit[i] })...)
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
	todo := lists.Filter(lists.Places(len(v.Items)), func(i int) bool { return v.Items[i].Outcome != plan.Hit })
	d.steps(len(todo), func(n int) string {
		i := todo[n]
		return fmt.Sprintf("- %s %s: %s\n", strings.ToUpper(string(v.Items[i].Outcome)), markdown.Code(v.Plan.Steps[i].Address), markdown.Text(clip(stepNote(v, f, i))))
	})
	_, err := io.WriteString(w, d.String())
	return err
}
