package docid

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPairing: documents find their identifiers by name, in any order, and the first
// one that has none, or that is missing, is named.
func TestPairing(t *testing.T) {
	s := &Set{Kind: KindNaive}
	for _, name := range []string{"3", "0", "2", "1"} {
		s.Identifiers = append(s.Identifiers, Identifier{Document: name, Text: "text " + name, Tokens: []int32{1}})
	}
	p := s.PairWith("corpus")
	for _, document := range []int{2, 0, 1, 0} {
		i, err := p.Find(document)
		if want := "text " + strconv.Itoa(document); err != nil || s.Identifiers[i].Text != want {
			t.Errorf("document %d: place %d, %v; want %q", document, i, err, want)
		}
	}
	if want := "document 3 of ids is not in corpus: take both from the same collection"; p.Complete() == nil || p.Complete().Error() != want {
		t.Errorf("incomplete: %v, want %q", p.Complete(), want)
	}
	if _, err := p.Find(3); err != nil || p.Complete() != nil {
		t.Errorf("complete: %v, %v", err, p.Complete())
	}
	for _, document := range []int{4, -1} {
		testkit.ErrSays(t, testkit.Err(p.Find(document)), fmt.Sprintf("document %d of corpus is not one of the 4 documents of ids: take both from the same collection", document))
	}
}
