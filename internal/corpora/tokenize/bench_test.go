package tokenize

import (
	"strings"
	"testing"
)

// article is a text of the size of a page.
var article = strings.Repeat("Selena Marie Gomez (born July 22, 1992) is an American singer and actress. She began her career in children's television.\n", 200)

func BenchmarkBERTEncode512(b *testing.B) {
	tok := testBERT(b)
	for b.Loop() {
		tok.Encode(article, 512)
	}
}

func BenchmarkBERTNormalize(b *testing.B) {
	tok := testBERT(b)
	for b.Loop() {
		tok.Normalize("The Walking Dead (season 8)")
	}
}
