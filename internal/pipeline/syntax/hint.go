package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
)

// Shown is how many characters a diagnostic quotes of a text that has more than Long, such as a whole file.
const (
	Shown = 80
	Long  = 2 * Shown
)

// brief cuts the long ones of the texts that a message quotes, once.
func brief(message string) string {
	const cut = "… ("
	if len(message) <= Long {
		return message
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(message, '"')
		if at < 0 {
			return b.String() + message
		}
		quoted, err := strconv.QuotedPrefix(message[at:])
		if err != nil {
			quoted = `"`
		}
		b.WriteString(message[:at])
		message = message[at+len(quoted):]
		if text, err := strconv.Unquote(quoted); err == nil && len(text) > Long && !strings.HasPrefix(message, cut) {
			quoted = fmt.Sprintf("%q%s%d bytes)", text[:Runes(text, Shown)], cut, len(text))
		}
		b.WriteString(quoted)
	}
}

// Runes is how many bytes the first n characters of a text have.
func Runes(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			return i
		}
	}
	return len(text)
}

// Nearest is the candidate that a mistyped name most likely meant, the first of equals; "": none is close.
func Nearest(name string, candidates []string) string {
	best, dist := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(c), nil); d < dist && d < len(c) {
			best, dist = c, d
		}
	}
	return best
}

// Suggest says which of the candidates was meant, or else lists them.
func Suggest(name string, candidates []string, noun string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf("Did you mean %q?", n)
	}
	const most = 12
	switch {
	case len(candidates) == 0:
		return fmt.Sprintf("There are no %ss here.", noun)
	case len(candidates) > most:
		return fmt.Sprintf("There are %d %ss, such as %s.", len(candidates), noun, strings.Join(candidates[:most], ", "))
	}
	return fmt.Sprintf("The %ss are %s.", noun, strings.Join(candidates, ", "))
}
