package doc2query

import (
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/corpora/pytext"
)

// Form is what two queries have in common that count as the same: their letters, marks and
// digits in lower case, one blank between words. It is "" of what has none.
func Form(query string) string {
	words := strings.FieldsFunc(pytext.Lower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return strings.Join(words, " ")
}
