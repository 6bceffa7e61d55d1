package nq

import "strings"

// SimplifiedText returns document_text, computed from the tokens of a full record.
func (r *Record) SimplifiedText() string {
	if r.Full() {
		return SimplifiedText(r.Tokens)
	}
	return r.Text
}

// SimplifiedText is the simplified format's document_text for the full format's tokens: blanks (U+0020) in a token become
// "_", one blank joins tokens (Google's published text_utils.simplify_nq_example).
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
