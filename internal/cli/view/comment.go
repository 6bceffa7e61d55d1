package view

import (
	"fmt"
	"strings"
)

const (
	markdownSteps = 100    // steps and blocks that a comment lists
	commentMost   = 30_000 // bytes of a comment's lists; GitHub refuses 65,536 characters, and two of ours may be one of its
)

// comment is Markdown for a pull request. It does not depend on when it was written, its length
// is bounded, and who writes to it escapes everything from the pipeline.
type comment struct{ strings.Builder }

func (c *comment) p(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// rows writes a line for each of n things, as far as most and the room for lists allow, and how
// many more there are by rest, a format.
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
