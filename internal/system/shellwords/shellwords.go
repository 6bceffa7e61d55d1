// Package shellwords writes words so that a shell reads them back. It must not know commands.
package shellwords

import (
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/system/lists"
)

// Quote returns a word for a shell.
func Quote(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%=,", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// Line returns a command line for a shell.
func Line(words []string) string { return strings.Join(lists.Map(words, Quote), " ") }
