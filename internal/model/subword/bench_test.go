package subword

import (
	"strings"
	"testing"
)

// article is a text of the size of a page.
var article = strings.Repeat("Selena Marie Gomez (born July 22, 1992) is an American singer and actress. She began her career in children's television.\n", 200)

func BenchmarkT5Encode(b *testing.B) {
	tok := testT5(b)
	b.SetBytes(int64(len(article)))
	for b.Loop() {
		tok.Encode(article)
	}
}

func BenchmarkT5Prefix64(b *testing.B) {
	tok := testT5(b)
	for b.Loop() {
		tok.EncodeTruncated(article, 64)
	}
}

func BenchmarkT5Identifier(b *testing.B) {
	tok := testT5(b)
	for b.Loop() {
		tok.Encode("141913")
	}
}
