package docid

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestKeywords: words come by BM25's weights, worked out by hand.
func TestKeywords(t *testing.T) {
	texts := []string{"The sea, the deep SEA of kings", "the hill", "the king's hill", ""}
	k := &Keywords{K1: 0.9, B: 0.4}
	var docs [][]string
	for _, text := range texts {
		docs = append(docs, Words(text, strings.ToLower))
		k.Add(docs[len(docs)-1])
	}
	testkit.Deep(t, docs[2], []string{"the", "king", "s", "hill"}, "words")
	for i, want := range [][]string{{"sea", "deep", "of", "kings", "the"}, {"hill", "the"}, {"king", "s", "hill", "the"}, {}} {
		got := k.Of(docs[i], 5)
		testkit.That(t, slices.Equal(got, want), "document", i, got, "want", want)
	}
	testkit.Deep(t, k.Of(docs[0], 1), []string{"sea"})
	// sea twice among 7 words, in 1 of 4 documents of 13/4 words; the twice, in 3
	norm := 0.9 * (0.6 + 0.4*7/(13.0/4))
	sea, the := math.Log(1+3.5/1.5)*2/(2+norm), math.Log(1+1.5/3.5)*2/(2+norm)
	deep := math.Log(1+3.5/1.5) / (1 + norm)
	if !(sea > deep && deep > the) {
		t.Errorf("weights %v, %v and %v are not in the order of the words", sea, deep, the)
	}
}
