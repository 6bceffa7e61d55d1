package checklist

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/paper/markdown"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/words"
)

const unanswered = "**[to be answered by the authors]**"

// Markdown writes the checklist for people to complete.
func (c *Checklist) Markdown() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# %s\n\n", plain(c.Title))
	if c.Paper != "" {
		p("%s\n\n", plain(c.Paper))
	}
	p("Filled from the records of the pipeline %s: %s of %s have results. Questions are abbreviated; their full text is at <%s>. "+
		"Questions that neither records nor the pipeline answer are marked %s: %s.\n",
		plain(c.Pipeline), counted(c.Done, "step"), counted(c.Steps, "step"), c.Source, unanswered, counted(c.Blank, "question"))
	if c.Apart != "" {
		p("\n**This is %s.** Sizes, hours and results below are of these runs, not of the paper.\n", plain(c.Apart))
	}
	section := ""
	for _, q := range c.Questions {
		if q.Section != section {
			section = q.Section
			p("\n## %s\n", plain(section))
		}
		p("\n### %s. %s\n\n", plain(q.Number), plain(q.Title))
		for _, a := range q.Answers {
			if a.Blank {
				p("- %s %s\n", unanswered, plain(a.Text))
			} else {
				p("- %s *(%s)*\n", plain(a.Text), plain(a.From))
			}
		}
		if len(q.Answers) == 0 {
			p("- %s\n", unanswered)
		}
	}
	c.commandsTable(p)
	return b.String()
}

func (c *Checklist) commandsTable(p func(string, ...any)) {
	if len(c.Commands) == 0 {
		return
	}
	p("\n## One command for each table and figure\n\nTimes are for steps run one after another on the machines of these runs, sizes are of their results; steps that several need count in each. " +
		"“of” says for how many of the steps they are recorded.\n\n")
	p("| result | command | steps | time | on cards | disk | download | expected | allowed |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, k := range c.Commands {
		steps := fmt.Sprint(k.Steps)
		if k.WithResults < k.Steps {
			steps = fmt.Sprintf("%d of %d", k.WithResults, k.Steps)
		}
		took, cards, disk := "?", "–", "?"
		if k.WithResults > 0 {
			took, disk = hours(k.TookS), words.Size(k.Disk)
		}
		if k.CardS > 0 {
			cards = hours(k.CardS)
		}
		download := words.Size(k.Download)
		if k.Unknown > 0 {
			download = fmt.Sprintf("%s and %s of unknown size", download, counted(k.Unknown, "file"))
		}
		p("| %s | %s | %s | %s | %s | %s | %s | %d | %.4g |\n", plain(cmp.Or(k.Paper, address.Of(k.Address).Local())), markdown.CodeCell(k.Command), steps, took, cards, disk, download, k.Expected, k.Allowed)
	}
}

// plain escapes a text for Markdown, on one line.
func plain(s string) string {
	text := []rune(strings.Join(strings.Fields(escape.Line(strings.Join(strings.Fields(s), " "))), " "))
	word := func(i int) bool {
		return i >= 0 && i < len(text) && (unicode.IsLetter(text[i]) || unicode.IsDigit(text[i]))
	}
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune("\\`*<|[~$", r) || r == '_' && !(word(i-1) && word(i+1)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
