package dedup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Snippet says how much of two differing texts Contrast shows, in words between
// white space.
type Snippet struct {
	Before int // words of common text before the difference, fewer at a sentence's start; 0: 5
	Words  int // words in all; 0: 12
}

// Contrast returns the place where two texts first differ, as each has it, with
// "…" where text was left out. White space runs count as one blank. ok is false
// if the texts do not differ in any word.
func Contrast(a, b string, o Snippet) (sa, sb string, ok bool) {
	if o.Before <= 0 {
		o.Before = 5
	}
	if o.Words <= 0 {
		o.Words = 12
	}
	var context []string // the last words that are equal
	dropped := false
	restA, restB := a, b
	for {
		wa, nextA := nextWord(restA)
		wb, nextB := nextWord(restB)
		if wa == "" && wb == "" {
			return "", "", false
		}
		if wa != wb {
			break
		}
		restA, restB = nextA, nextB
		switch {
		case strings.HasSuffix(wa, ".") || strings.HasSuffix(wa, "!") || strings.HasSuffix(wa, "?"):
			context, dropped = context[:0], true
			continue
		case len(context) == o.Before:
			context, dropped = context[:copy(context, context[1:])], true
		}
		context = append(context, wa)
	}
	lead := ""
	if dropped {
		lead = "…"
	}
	return lead + excerpt(context, restA, o.Words), lead + excerpt(context, restB, o.Words), true
}

func nextWord(s string) (word, rest string) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			return s[:i], s[i:]
		}
		i += n
	}
	return s, ""
}

func excerpt(context []string, rest string, words int) string {
	out := append([]string(nil), context...)
	for len(out) < words {
		w, next := nextWord(rest)
		if w == "" {
			return strings.Join(out, " ")
		}
		out, rest = append(out, w), next
	}
	s := strings.Join(out, " ")
	if w, _ := nextWord(rest); w != "" {
		s += "…"
	}
	return s
}
