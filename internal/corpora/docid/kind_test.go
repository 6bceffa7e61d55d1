package docid

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// ofEveryKind has a set of every kind, of 120 documents.
func ofEveryKind(t *testing.T) map[Kind]*Set {
	t.Helper()
	docs := names(120)
	atomic, err := Atomic(docs, FirstAtomicToken)
	testkit.None(t, err)
	naive, err := Naive(docs, 120, 42, GeneratorPython, digits)
	testkit.None(t, err)
	semantic, _, err := Semantic(t.Context(), docs, scattered(120, 3), SemanticOptions{}, digits)
	testkit.None(t, err)
	residual, _, err := Residual(t.Context(), docs, scattered(120, 3), ResidualOptions{Levels: 2, Codes: 8, FirstToken: FirstAtomicToken, EOS: 1})
	testkit.None(t, err)
	title, _, err := Title(KindTitle, docs, docs, 4, &words{})
	testkit.None(t, err)
	keyword, _, err := Title(KindKeyword, docs, docs, 4, &words{})
	testkit.None(t, err)
	other := &Set{Kind: KindOther, Identifiers: naive.Identifiers}
	return map[Kind]*Set{KindAtomic: atomic, KindNaive: naive, KindSemantic: semantic, KindResidual: residual, KindTitle: title, KindKeyword: keyword, KindOther: other}
}

// TestFacets: what a kind's facets say is so of its identifiers.
func TestFacets(t *testing.T) {
	sets := ofEveryKind(t)
	for _, kind := range Kinds() {
		s := sets[kind]
		if s == nil || s.Kind != kind {
			t.Fatalf("no set of %s identifiers", kind)
		}
		own := false // a token that is not the tokenizer's
		for i, id := range s.Identifiers {
			if one := len(id.Tokens) == 1; one != kind.OneToken() || kind.OneToken() && id.Tokens[0] != s.Identifiers[0].Tokens[0]+int32(i) {
				t.Fatalf("%s: document %d is tokens %v", kind, i, id.Tokens)
			}
			for _, token := range id.Tokens {
				own = own || token >= FirstAtomicToken
			}
		}
		first, last := s.TokenRange()
		if own != kind.GrowsVocabulary() || own != (first == FirstAtomicToken) || own != (last >= FirstAtomicToken) {
			t.Errorf("%s: own tokens %v, from %d to %d", kind, own, first, last)
		}
		if kind.CanBeInvalid() == kind.OneToken() {
			t.Errorf("%s: documents that are ranked cannot be invalid, beams can", kind)
		}
	}
	if other := Kind("unheard"); other.OneToken() || other.GrowsVocabulary() || other.CanBeInvalid() {
		t.Error("an unknown kind has facets")
	}
}
