package python

import (
	"regexp"
	"strings"
)

var (
	// coding is a comment in one of the first two lines that says how the bytes are read.
	coding = regexp.MustCompile(`\A(?:[ \t\f]*(?:#[^\n]*)?\n)??[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)`)
	isUTF8 = regexp.MustCompile(`(?i)^utf[-_]?8(?:[-_]|$)`)
)

// Encoded reports whether a source declares an encoding other than UTF-8.
func Encoded(text string) bool {
	m := coding.FindStringSubmatch(unified(text))
	return m != nil && !isUTF8.MatchString(m[1])
}

// Normal returns a source with the meaning of text, by its tokens: without comments and blank lines, with a tab for
// each level of indentation and a space between tokens. Strings, and so docstrings, stay. Only numbers of lines change.
func Normal(text string) (string, error) {
	tokens, err := scan(text)
	return written(tokens), err
}

func written(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		switch {
		case t.first:
			b.WriteString(strings.Repeat("\t", t.indent))
		case t.text != "\n" && i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
