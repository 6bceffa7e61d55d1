// Package markdown writes texts from outside into documents in Markdown, where they stay
// what they are. It must not know the documents.
package markdown

import (
	"strings"

	"github.com/redsi/redsi/internal/system/escape"
)

// Text is a text for a line or cell in which nothing has a meaning: no emphasis, link or mention of somebody.
func Text(s string) string {
	var b strings.Builder
	for _, r := range escape.Line(s) {
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

// Code is a text as code on a line.
func Code(s string) string {
	s = escape.Line(s)
	if s == "" {
		return "` `"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// CodeCell is Code in a cell of a table, in which a bar would end the cell.
func CodeCell(s string) string { return Code(strings.ReplaceAll(s, "|", `\|`)) }
