package serialize

import (
	"strings"
	"unicode/utf8"
)

// dropPronunciation removes the first balanced parenthesis that begins within the
// window, if T5 has no piece for something in it, with the blank before it
// (paper, "Pronunciation Cleanup"). It returns the text and what was removed.
// A parenthesis that does not close is left alone.
func (s *Serializer) dropPronunciation(text, title string) (string, string) {
	offset := 0
	if s.o.PronunciationScope == "body" && title != "" {
		offset = min(len(title)+1, len(text))
	}
	start := offset
	for n := 0; ; n++ {
		if start >= len(text) || n >= s.o.PronunciationWindow {
			return text, ""
		}
		if text[start] == '(' {
			break
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	end, depth := start, 0
	for {
		i := strings.IndexAny(text[end:], "()")
		if i < 0 {
			return text, ""
		}
		if text[end+i] == '(' {
			depth++
		} else {
			depth--
		}
		if end += i + 1; depth == 0 {
			break
		}
	}
	span := text[start:end]
	if !s.tools.HasUnknown(span) {
		return text, ""
	}
	lineStart, lineEnd := start == 0 || text[start-1] == '\n', end == len(text) || text[end] == '\n'
	switch {
	case lineStart && lineEnd: // nothing is left of the line
		before, after := strings.TrimRight(text[:start], "\n"), strings.TrimLeft(text[end:], "\n")
		if before == "" || after == "" {
			return before + after, span
		}
		newlines := max(start-len(before), len(text)-end-len(after))
		return before + "\n\n"[:newlines] + after, span
	case start > 0 && text[start-1] == ' ':
		start--
	case lineStart && text[end] == ' ':
		end++
	}
	return text[:start] + text[end:], span
}
