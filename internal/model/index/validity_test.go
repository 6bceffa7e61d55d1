package index

import (
	"reflect"
	"testing"

	published "github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestValidity: T5 has several tokens for the same digits, and itself writes one of
// them. By text the first that names a document counts, the next ones are not invalid.
func TestValidity(t *testing.T) {
	tok := testkit.Value(subword.NewSubword(published.T5))(t)
	defer tok.Close()
	ids := &docid.Set{Kind: docid.KindNaive, Identifiers: []docid.Identifier{{Document: "0", Text: "18510", Tokens: tok.Encode("18510")}}}
	c := testkit.Value(NewCatalog(ids, tok))(t)
	own := []int32{507, 25926, 1}
	for _, h := range []struct {
		tokens       []int32
		tokenV, text bool
	}{
		{own, true, true},
		{[]int32{209, 927, 25926, 1}, false, true},
		{[]int32{507, 755, 1714, 1}, false, true},
		{[]int32{3, 536, 927, 25926, 1}, false, true},
		{[]int32{507, 25926}, false, true},            // has not ended
		{[]int32{507, 25926, 3, 1}, false, true},      // a blank after it
		{[]int32{507, 25926, 32_099, 1}, false, true}, // a special token
		{[]int32{507, 25926, 5, 1}, false, false},     // "18510."
		{[]int32{507, 1}, false, false},
		{[]int32{1}, false, false},
	} {
		for v, want := range map[retrieve.Validity]bool{retrieve.ByTokens: h.tokenV, retrieve.ByText: h.text} {
			if place, ok := c.find(v)(h.tokens); ok != want || ok && place != 0 {
				t.Errorf("%v, %q: valid by %s is %v, want %v", h.tokens, tok.Decode(h.tokens, true), v, ok, want)
			}
		}
	}
	r := decode.Rank([]decode.Hypothesis{{Tokens: []int32{507, 1}, Score: -1}, {Tokens: []int32{507, 755, 1714}, Score: -2}, {Tokens: own, Score: -3}}, c.find(retrieve.ByText))
	if want := []decode.Ranked{{Document: 0, Score: -2, Tokens: []int32{507, 755, 1714}}}; r.Invalid != 1 || !reflect.DeepEqual(r.Valid(), want) {
		t.Errorf("%+v, want %v and 1 invalid", r, want)
	}
}
