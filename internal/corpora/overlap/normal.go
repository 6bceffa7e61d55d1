package overlap

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// Normal returns a text in the form that tells questions apart: NFKC, case folded, without apostrophes, other punctuation as
// white space, one blank between words. It may be empty.
func Normal(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		text = cases.Fold().String(norm.NFKC.String(text))
		text = norm.NFKC.String(text) // folding may undo it
	}
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		switch {
		case r == '\'' || r == '’' || r == '‘' || r == 'ʼ':
			continue
		case r <= unicode.MaxASCII && 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsControl(r):
			space = true
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

// appendWords appends the hashes of a normal form's words, in order.
func appendWords(list []uint64, normal string) []uint64 {
	for word := range strings.SplitSeq(normal, " ") {
		if word != "" {
			list = append(list, hash(word))
		}
	}
	return list
}

// hash is FNV-1a, mixed. Words of equal hash are taken for equal.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return splitmix.Finish(h)
}

// sequence is the hash of words in order.
func sequence(words []uint64) uint64 {
	h := uint64(len(words))
	for _, w := range words {
		h = splitmix.Finish(h*splitmix.Gamma + w)
	}
	return h
}
