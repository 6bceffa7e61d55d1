package retrieve

import (
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
)

// TestTextsOf: tokens of identifiers' own have no text.
func TestTextsOf(t *testing.T) {
	id := []docid.Identifier{{Document: "a", Text: "12", Tokens: []int32{40_000}}}
	for kind, want := range map[docid.Kind]bool{docid.KindNaive: true, docid.KindSemantic: true, docid.KindTitle: true, docid.KindKeyword: true, docid.KindOther: true, docid.KindResidual: false, docid.KindAtomic: false} {
		texts := TextsOf(&docid.Set{Kind: kind, Identifiers: id})
		if _, ok := texts.Find(" 12\n"); ok != want {
			t.Errorf("%s: %v, want %v", kind, ok, want)
		}
		if _, ok := texts.Find(""); ok {
			t.Errorf("%s: the empty text is an identifier", kind)
		}
	}
}
