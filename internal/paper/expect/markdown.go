package expect

import (
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
)

// Markdown writes the verdicts for people: counts, what does not hold, and a line for each table, figure and claim.
func (j *Judged) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Expectations\n\n%s.\n", render.MarkdownText(j.Summary().Sentence()))
	if apart := j.Summary().Apart; apart != "" {
		fmt.Fprintf(&b, "\n%s.\n", render.MarkdownText(apart))
	}
	heading := func(text string) { fmt.Fprintf(&b, "\n## %s\n\n", text) }
	var unmet strings.Builder
	for _, it := range j.Items {
		for _, c := range it.Checks {
			if c.Verdict == render.Differs || c.Verdict == render.IsNear {
				fmt.Fprintf(&unmet, "- **%s**%s `%s` %s (`%s`)\n", c.Verdict, c.Severity.Lesser(" "), it.Address, render.MarkdownText(c.Said()), c.Pos)
			}
		}
	}
	for _, c := range j.Claims {
		if c.Verdict != render.Broken && c.Verdict != render.IsNear {
			continue
		}
		fmt.Fprintf(&unmet, "- **%s**%s “%s” (`%s`)\n", c.Verdict, c.Severity.Lesser(" "), render.MarkdownText(c.Text), c.Pos)
		for _, k := range c.Unmet() {
			fmt.Fprintf(&unmet, "  - %s\n", render.MarkdownText(k.Said()))
		}
	}
	if unmet.Len() > 0 {
		heading("What does not hold")
		b.WriteString(unmet.String())
	}
	heading("Tables and figures")
	b.WriteString("| table or figure | paper | match | near | differ | not run | not comparable |\n|---|---|---:|---:|---:|---:|---:|\n")
	for _, it := range j.Items {
		if len(it.Checks) == 0 {
			continue
		}
		n := map[render.Verdict]int{}
		for _, c := range it.Checks {
			n[c.Verdict]++
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %d | %d | %d |\n", it.Address, render.MarkdownText(it.Paper),
			n[render.Matches], n[render.IsNear], n[render.Differs], n[render.NotRun], n[render.NotComparable])
	}
	if len(j.Claims) > 0 {
		heading("Claims")
		b.WriteString("| claim | paper | verdict | about |\n|---|---|---|---|\n")
	}
	for _, c := range j.Claims {
		fmt.Fprintf(&b, "| %s: “%s” | %s | %s%s | `%s` |\n", render.MarkdownText(c.Name), render.MarkdownText(c.Text), render.MarkdownText(c.Paper),
			c.Verdict, c.Severity.Lesser(" "), strings.Join(c.Items, "`, `"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
