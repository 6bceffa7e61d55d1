package nq

import "strings"

// SimplifiedText is document_text of the simplified format for the tokens of the
// full one: each token with its blanks (U+0020) replaced by "_", joined by one
// blank (Google's published text_utils.simplify_nq_example).
func SimplifiedText(tokens []Token) string {
	n := len(tokens)
	for i := range tokens {
		n += len(tokens[i].Text)
	}
	var b strings.Builder
	b.Grow(n)
	for i := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ReplaceAll(tokens[i].Text, " ", "_"))
	}
	return b.String()
}
