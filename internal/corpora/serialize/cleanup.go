package serialize

import (
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
)

// dropPronunciations removes balanced parentheses that T5 has no piece for, with the blank before them (paper,
// "Pronunciation Cleanup"): the first that begins within the window, or every outermost one within it (PronunciationSpans).
// It returns the text, the removed parts, and whether nothing is left of the title's line. An unclosed parenthesis stays.
func (s *Serializer) dropPronunciations(text, title string) (left, removed string, titleGone bool) {
	from := 0
	if s.o.PronunciationScope == "body" && title != "" {
		from = min(len(title)+1, len(text))
	}
	to := from
	for n := 0; n < s.o.PronunciationWindow && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	end := to
	if s.o.PronunciationSpans == "first" {
		end = len(text)
	}
	var gone [][2]int
	for at := from; at < to; {
		span, ok := parenthesis(text[:end], at)
		if !ok || span[0] >= to {
			break
		}
		if s.tools.HasUnknown(text[span[0]:span[1]]) {
			gone = append(gone, span)
		}
		if s.o.PronunciationSpans == "first" {
			break
		}
		at = span[1]
	}
	all := lists.Map(gone, func(span [2]int) string { return text[span[0]:span[1]] })
	for i := len(gone) - 1; i >= 0; i-- { // from the end: the other spans stay where they are
		var line bool
		text, line = cutSpan(text, gone[i][0], gone[i][1])
		titleGone = titleGone || line && gone[i][0] < len(title)
	}
	return text, strings.Join(all, " "), titleGone
}

// parenthesis returns the first balanced parenthesis that begins at or after from.
func parenthesis(text string, from int) (span [2]int, ok bool) {
	i := strings.IndexByte(text[from:], '(')
	if i < 0 {
		return span, false
	}
	span[0] = from + i
	depth := 0
	for at := span[0]; ; {
		i := strings.IndexAny(text[at:], "()")
		if i < 0 {
			return span, false
		}
		if text[at+i] == '(' {
			depth++
		} else {
			depth--
		}
		if at += i + 1; depth == 0 {
			span[1] = at
			return span, true
		}
	}
}

// cutSpan removes text[start:end], with the blank before it, and reports whether nothing is left of its line.
func cutSpan(text string, start, end int) (left string, line bool) {
	lineStart, lineEnd := start == 0 || text[start-1] == '\n', end == len(text) || text[end] == '\n'
	switch {
	case lineStart && lineEnd:
		before, after := strings.TrimRight(text[:start], "\n"), strings.TrimLeft(text[end:], "\n")
		if before == "" || after == "" {
			return before + after, true
		}
		newlines := max(start-len(before), len(text)-end-len(after))
		return before + "\n\n"[:newlines] + after, true
	case start > 0 && text[start-1] == ' ':
		start--
	case lineStart && text[end] == ' ':
		end++
	}
	return text[:start] + text[end:], false
}
