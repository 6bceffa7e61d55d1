package dedup

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
)

// TextLimit is the prefix of the text keys in code points.
const TextLimit = 4000

// TextKeys returns nq.Header's Text4KCased and Text4K: digests of the first 4,000 code points of FlatText, or with tags of
// the simplified text, cased and lower-cased after the cut.
func TextKeys(r *nq.Record, tags bool) (cased, lower [16]byte) {
	var room [TextLimit + TextLimit/8]byte
	text, n := flatText(room[:0], r, TextLimit, tags)
	for ; n > TextLimit; n-- { // it ends with the token that reaches the limit
		_, size := utf8.DecodeLastRune(text)
		text = text[:len(text)-size]
	}
	return digest(text), digest([]byte(pytext.Lower(string(text))))
}

func digest(text []byte) [16]byte {
	sum := sha256.Sum256(text)
	return [16]byte(sum[:16])
}

// TextDigest is the first half of SHA-256 of s's first limit code points (0: all), lower-cased after the cut if lower.
func TextDigest(s string, limit int, lower bool) [16]byte {
	if limit > 0 {
		s = cut(s, limit)
	}
	if lower {
		s = pytext.Lower(s)
	}
	return digest([]byte(s))
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

// FlatText is the text that the text keys cut: the text tokens of the simplified format joined by one blank, page title line
// included, tags dropped. It stops after the token that completes limit code points; 0: no limit.
//
// A tag is an html_token of a full record, and in the simplified format a token that matches ^<[^<]+>$. Blanks inside a
// token are "_" in both.
func FlatText(r *nq.Record, limit int) string {
	text, _ := flatText(nil, r, limit, false)
	return string(text)
}

// flatText appends FlatText, or with tags all tokens, to the empty b and also returns its code points.
func flatText(b []byte, r *nq.Record, limit int, tags bool) (text []byte, n int) {
	some := false // whether a token was added
	// add reports whether more text is wanted.
	add := func(token string) bool {
		if some {
			b = append(b, ' ')
			n++
		}
		some = true
		b = append(b, token...)
		n += utf8.RuneCountInString(token)
		return limit <= 0 || n < limit
	}
	if r.Full() {
		for i := range r.Tokens {
			if (tags || !r.Tokens[i].HTML) && !add(strings.ReplaceAll(r.Tokens[i].Text, " ", "_")) {
				break
			}
		}
	} else {
		for token := range strings.SplitSeq(r.Text, " ") {
			if (tags || !IsTag(token)) && !add(token) {
				break
			}
		}
	}
	return b, n
}

// IsTag reports whether a token of the simplified format is a tag.
func IsTag(token string) bool {
	return len(token) > 2 && token[0] == '<' && token[len(token)-1] == '>' && strings.IndexByte(token[1:], '<') < 0
}
