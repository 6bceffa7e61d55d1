package tokenize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// basicWords yields text's words, split at white space and punctuation, lower-cased and without accents, until yield returns
// false, and reports whether it yielded all (transformers: BasicTokenizer of an uncased BertTokenizer behind
// PreTrainedTokenizer.tokenize, which first lower-cases each character). The caller has split text at blanks, which changes
// nothing.
func basicWords(text string, yield func(word string) bool) bool {
	if isPlain(text) {
		return splitPunctuation(strings.ToLower(text), yield)
	}
	clean := norm.NFC.String(cleaned(text))
	for _, token := range strings.FieldsFunc(clean, pythonSpace) {
		if !splitPunctuation(withoutAccents(token), yield) {
			return false
		}
	}
	return true
}

// isPlain reports whether text is printable ASCII, for which cleaning, normalization and accents do nothing.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// cleaned lower-cases, drops control characters, turns white space into blanks and puts blanks around CJK ideographs.
// ToLower is Python's lower() per character, except for the dot of "İ", which is removed with the accents.
func cleaned(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	for _, r := range text {
		r = unicode.ToLower(r)
		switch {
		case r == 0, r == utf8.RuneError:
		case r == ' ', r == '\t', r == '\n', r == '\r', unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		case unicode.Is(unicode.C, r): // unassigned characters too
		case isIdeograph(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pythonSpace is str.isspace for the characters that cleaned leaves, with the line and paragraph separators, not in Zs.
func pythonSpace(r rune) bool { return r == ' ' || r == '\u2028' || r == '\u2029' }

// withoutAccents removes the nonspacing marks of the canonical decomposition, with U+1171E as in Python's tables, up to
// Unicode 15.
func withoutAccents(token string) string {
	if isPlain(token) {
		return token
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == 0x1171e {
			return -1
		}
		return r
	}, norm.NFD.String(token))
}

// splitPunctuation yields each punctuation character and the texts between them.
func splitPunctuation(token string, yield func(string) bool) bool {
	start := 0
	for i, r := range token {
		if !isPunctuation(r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		if start < i && !yield(token[start:i]) || !yield(token[i:end]) {
			return false
		}
		start = end
	}
	return start == len(token) || yield(token[start:])
}

// isPunctuation reports ASCII characters except letters, digits and blanks ("$", "+", "^", …), and Unicode's category P.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.Is(unicode.P, r)
}

// isIdeograph lists the blocks that BERT counts as Chinese characters.
func isIdeograph(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0x3400 <= r && r <= 0x4DBF ||
		0x20000 <= r && r <= 0x2A6DF || 0x2A700 <= r && r <= 0x2B73F ||
		0x2B740 <= r && r <= 0x2B81F || 0x2B820 <= r && r <= 0x2CEAF ||
		0xF900 <= r && r <= 0xFAFF || 0x2F800 <= r && r <= 0x2FA1F
}
