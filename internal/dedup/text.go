package dedup

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/nq"
)

// TextLimit is the prefix of the text keys in code points.
const TextLimit = 4000

// TextKeys returns the values of nq.Header.Text4KCased and Text4K: the digests of
// the first 4,000 code points of FlatText, as they are and lower-cased after the
// cut.
func TextKeys(r *nq.Record) (cased, lower [16]byte) {
	text := FlatText(r, TextLimit)
	return TextDigest(text, TextLimit, false), TextDigest(text, TextLimit, true)
}

// TextDigest digests the first limit code points of s (0: all of them), lower-cased
// after the cut if lower is set: the first 16 bytes of their SHA-256.
func TextDigest(s string, limit int, lower bool) [16]byte {
	if limit > 0 {
		s = cut(s, limit)
	}
	if lower {
		s = Lower(s)
	}
	sum := sha256.Sum256([]byte(s))
	return [16]byte(sum[:16])
}

// cut returns the first n code points of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// FlatText is the text that the text keys cut: the text tokens of the simplified
// format joined by one blank, page title line included, tags dropped. It stops
// after the token that completes limit code points; 0 takes the whole text.
//
// A tag is an html_token of a full record, and in the simplified format a token
// that matches <[^<]+> as a whole. Blanks inside a token are "_" in both.
func FlatText(r *nq.Record, limit int) string {
	f := flat{limit: limit}
	if r.Full() {
		for i := range r.Tokens {
			if !r.Tokens[i].HTML && !f.add(strings.ReplaceAll(r.Tokens[i].Text, " ", "_")) {
				break
			}
		}
	} else {
		for token := range strings.SplitSeq(r.Text, " ") {
			if !isTag(token) && !f.add(token) {
				break
			}
		}
	}
	return f.text.String()
}

// flat joins tokens and counts code points.
type flat struct {
	text     strings.Builder
	n, limit int
	some     bool
}

// add reports whether more text is wanted.
func (f *flat) add(token string) bool {
	if f.some {
		f.text.WriteByte(' ')
		f.n++
	}
	f.some = true
	f.text.WriteString(token)
	f.n += utf8.RuneCountInString(token)
	return f.limit <= 0 || f.n < f.limit
}

func isTag(token string) bool {
	return len(token) > 2 && token[0] == '<' && token[len(token)-1] == '>' && strings.IndexByte(token[1:], '<') < 0
}
