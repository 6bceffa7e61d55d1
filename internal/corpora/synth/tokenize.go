package synth

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// text writes plain text and its tokens: words and punctuation apart, with the
// Penn Treebank's replacements for quotation marks, dashes and brackets that NQ
// has (tab:nq-token-substitutions).
func (b *builder) text(s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if isGap(r) {
			b.html = append(b.html, s[i:i+n]...)
			if b.lead != nil {
				b.lead.WriteByte(' ')
			}
			i += n
			continue
		}
		end := i
		for end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if isGap(r) {
				break
			}
			end += n
		}
		b.word(s[i:end])
		i = end
	}
}

func isGap(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\u00a0' || r == '\u200a' }

// word splits what stands between two gaps.
func (b *builder) word(w string) {
	if strings.HasPrefix(w, "https://") {
		b.token(w, w)
		return
	}
	for w != "" {
		n := b.wordPart(w)
		w = w[n:]
	}
}

// wordPart writes the first token of w and returns its length.
func (b *builder) wordPart(w string) int {
	if strings.HasPrefix(w, "n't") {
		b.token(w[:3], w[:3])
		return 3
	}
	r, n := utf8.DecodeRuneInString(w)
	if isWord(r) {
		n = wordEnd(w)
		b.token(w[:n], w[:n])
		return n
	}
	if r == '\'' || r == '’' {
		if n := clitic(w[n:]); n > 0 {
			end := utf8.RuneLen(r) + n
			b.token(w[:end], "'"+w[end-n:end])
			return end
		}
	}
	if strings.HasPrefix(w, "...") {
		b.token("...", "...")
		return 3
	}
	b.token(w[:n], b.punctuation(r, w[:n]))
	return n
}

// punctuation is the stored form of a single character.
func (b *builder) punctuation(r rune, same string) string {
	switch r {
	case '"':
		b.quoteOpen = !b.quoteOpen
		if b.quoteOpen {
			return "``"
		}
		return "''"
	case '“':
		return "``"
	case '”':
		return "''"
	case '‘':
		return "`"
	case '’':
		return "'"
	case '–', '—':
		return "--"
	case '[', '{':
		return "("
	case ']', '}':
		return ")"
	case '…':
		return "..."
	case '½':
		return "1/2"
	}
	return same
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isDigit(w string, i int) bool { return i >= 0 && i < len(w) && '0' <= w[i] && w[i] <= '9' }

var (
	abbreviations = strings.Fields("U.S. No. Inc. St. Dr. vs. approx.")
	joined        = strings.Fields("non- post- anti- re- co- ex-") // no token of their own
)

// wordEnd is the end of the word token at the start of w.
func wordEnd(w string) int {
	for _, a := range abbreviations {
		if strings.HasPrefix(w, a) {
			return len(a)
		}
	}
	if len(w) > 1 && 'A' <= w[0] && w[0] <= 'Z' && w[1] == '.' {
		return 2 // an initial
	}
	i := 0
	for _, j := range joined {
		if strings.HasPrefix(w, j) && len(w) > len(j) {
			i = len(j)
		}
	}
	for i < len(w) {
		if i > 0 && strings.HasPrefix(w[i:], "n't") {
			return i
		}
		r, n := utf8.DecodeRuneInString(w[i:])
		inNumber := (r == '.' || r == ',') && isDigit(w, i-1) && isDigit(w, i+1)
		if !isWord(r) && !inNumber {
			break
		}
		i += n
	}
	return i
}

// clitic is the length of an ending after an apostrophe, 0 if there is none.
func clitic(w string) int {
	for _, c := range []string{"s", "re", "ve", "ll", "d", "m"} {
		if strings.HasPrefix(w, c) {
			if r, _ := utf8.DecodeRuneInString(w[len(c):]); len(w) == len(c) || !isWord(r) {
				return len(c)
			}
		}
	}
	return 0
}
