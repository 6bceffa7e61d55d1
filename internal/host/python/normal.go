package python

import (
	"regexp"
	"strings"
)

// coding is a comment that says how the bytes of a source are read, where Python heeds it.
var coding = regexp.MustCompile(`^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

// Coding is the encoding that one of the first two lines of a source declares; "" for UTF-8.
func Coding(text string) string {
	lines := strings.SplitN(unified(text), "\n", 3)
	for i, line := range lines[:min(2, len(lines))] {
		if m := coding.FindStringSubmatch(line); m != nil {
			name := strings.ReplaceAll(strings.ToLower(m[1]), "_", "-")
			if name == "utf-8" || name == "utf8" || strings.HasPrefix(name, "utf-8-") {
				return ""
			}
			return m[1]
		}
		if i == 0 && strings.Trim(line, " \t\f") != "" && !strings.HasPrefix(strings.TrimLeft(line, " \t\f"), "#") {
			break
		}
	}
	return ""
}

// Normal is a source with the same meaning as text, in which only its tokens count: there
// are no comments and blank lines, a tab for each level of indentation and one space
// between tokens. Strings, and so docstrings, stay as they are. What differs are the
// numbers of lines. Errors are *SyntaxError.
func Normal(text string) (string, error) {
	tokens, err := scan(text)
	if err != nil {
		return "", err
	}
	return written(tokens), nil
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
