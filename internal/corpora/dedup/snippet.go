package dedup

import (
	"strings"
	"unicode"
)

// What Contrast shows, in words between white space: of common text before the difference, where
// the sentence has as many, and in all.
const (
	contextWords = 5
	shownWords   = 12
)

// Contrast returns the place where two texts first differ, as each has it, with
// "…" where text was left out. White space runs count as one blank. ok is false
// if the texts do not differ in any word.
func Contrast(a, b string) (sa, sb string, ok bool) {
	var context []string // the last words that are equal
	lead := ""
	for {
		wa, nextA := nextWord(a)
		wb, nextB := nextWord(b)
		if wa == "" && wb == "" {
			return "", "", false
		}
		if wa != wb {
			break
		}
		a, b = nextA, nextB
		switch {
		case strings.HasSuffix(wa, ".") || strings.HasSuffix(wa, "!") || strings.HasSuffix(wa, "?"):
			context, lead = context[:0], "…"
			continue
		case len(context) == contextWords:
			context, lead = context[:copy(context, context[1:])], "…"
		}
		context = append(context, wa)
	}
	return lead + excerpt(context, a), lead + excerpt(context, b), true
}

func nextWord(s string) (word, rest string) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if end := strings.IndexFunc(s, unicode.IsSpace); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}

func excerpt(context []string, rest string) string {
	out := append([]string(nil), context...)
	for len(out) < shownWords {
		w, next := nextWord(rest)
		if w == "" {
			return strings.Join(out, " ")
		}
		out, rest = append(out, w), next
	}
	if w, _ := nextWord(rest); w != "" {
		out[len(out)-1] += "…"
	}
	return strings.Join(out, " ")
}
