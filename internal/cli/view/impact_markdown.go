package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/system/escape"
)

// markdownSteps bounds the steps that are listed for a pull request.
const markdownSteps = 100

// ImpactMarkdown writes what a change costs for a pull request. It does not depend on when it
// was written, and everything from the pipeline is escaped.
func ImpactMarkdown(w io.Writer, r *impact.Report) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format, args...) }
	p("## What this change costs\n\n%s → %s\n\n", inline(r.A), inline(r.B))
	p("**%s**", inline(ImpactSentence(r)))
	if r.Cost.Steps > 0 {
		p(" Expected: %s.", inline(impactCost(r.Cost)))
	}
	p("\n")
	if len(r.Tables) > 0 {
		p("\n| table or figure | after | steps | expected | claims |\n|---|---|---|---|--:|\n")
		for _, t := range r.Tables {
			cost := ""
			if t.Cost.Steps > 0 {
				cost = impactCost(t.Cost)
			}
			p("| %s | %s | %s | %s | %d |\n", code(t.Address), strings.ToUpper(impactOutcome(t)), inline(impactCounts(t.Counts)), inline(cost), t.Claims)
		}
	}
	if len(r.Causes) > 0 {
		p("\n| what changes | where | steps | makes run |\n|---|---|--:|---|\n")
		for i, c := range r.Causes {
			if i == impactShown {
				p("| and %s more | | | |\n", Count(len(r.Causes)-i, "cause"))
				break
			}
			what := inline(c.Text)
			if c.Block != "" {
				what = code(c.Block) + " " + what
			}
			place := ""
			if c.Where != "" {
				place = code(c.Where)
			}
			p("| %s | %s | %d | %s |\n", what, place, c.Steps, inline(moves(c.Moves)))
		}
	}
	if len(r.Claims) > 0 {
		p("\nClaims of the paper that these tables hold:\n\n")
		for i, c := range r.Claims {
			if i == impactShown {
				p("- and %s more\n", Count(len(r.Claims)-i, "claim"))
				break
			}
			p("- %s: %s\n", code(c.Table), inline(c.Text))
		}
	}
	if len(r.Each) > 0 {
		p("\n<details><summary>%s</summary>\n\n", Count(len(r.Each), "step"))
		for i, c := range r.Each {
			if i == markdownSteps {
				p("- and %s more\n", Count(len(r.Each)-i, "step"))
				break
			}
			before, after := strings.ToUpper(string(c.Before)), strings.ToUpper(string(c.After))
			if c.Stood {
				before = "HIT"
			}
			p("- %s: %s → %s\n", code(c.Address), cmpText(before, "new"), cmpText(after, "gone"))
		}
		p("\n</details>\n")
	}
	for _, n := range r.Notes {
		p("\n%s\n", inline(n))
	}
}

// inline is text escaped for a line or cell of Markdown.
func inline(text string) string {
	text = escape.Line(text)
	var b strings.Builder
	for _, r := range text {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '\\', '`', '*', '_', '[', ']', '|', '~', '#', '!', '@':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code is text as code in a line or cell of Markdown.
func code(text string) string {
	text = strings.ReplaceAll(escape.Line(text), "|", `\|`)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
