package docid

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/system/lists"
)

// Keywords weighs documents' words by BM25 in Lucene's form: Add all documents, then ask for each one's words.
type Keywords struct {
	K1, B float64

	documents map[string]int // with a word
	n, words  int
}

// Words returns the runs of letters, marks and digits of a text, after lower.
func Words(text string, lower func(string) string) []string {
	return strings.FieldsFunc(lower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
}

// Add counts a document, and returns the number of different words so far.
func (k *Keywords) Add(words []string) (vocabulary int) {
	if k.documents == nil {
		k.documents = map[string]int{}
	}
	k.n++
	k.words += len(words)
	for _, w := range lists.Unique(words) {
		if _, ok := k.documents[w]; !ok {
			w = strings.Clone(w) // without the text around it
		}
		k.documents[w]++
	}
	return len(k.documents)
}

// Of returns a document's n words of greatest weight, the greatest first, equal weights in the order of the document.
func (k *Keywords) Of(words []string, n int) []string {
	type word struct {
		text   string
		weight float64
	}
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	norm := k.K1 * (1 - k.B + k.B*float64(len(words))/(float64(k.words)/float64(k.n)))
	all := lists.Map(lists.Unique(words), func(w string) word {
		df, tf := float64(k.documents[w]), float64(count[w])
		return word{w, math.Log1p((float64(k.n)-df+0.5)/(df+0.5)) * tf / (tf + norm)}
	})
	slices.SortStableFunc(all, func(a, b word) int { return cmp.Compare(b.weight, a.weight) })
	return lists.Map(all[:min(n, len(all))], func(w word) string { return w.text })
}
