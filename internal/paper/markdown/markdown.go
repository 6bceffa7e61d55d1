// Package markdown writes texts from outside into Markdown documents, where they stay texts. It must not know the
// documents.
package markdown

import (
	"strings"

	"github.com/redsi/redsi/internal/system/escape"
)

var special = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "#", `\#`, "!", `\!`, "@", `\@`)

// Text escapes a text for a line or cell, so that it has no emphasis, no link and mentions nobody.
func Text(s string) string { return special.Replace(escape.Line(s)) }

// Code returns a text as code on a line.
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
