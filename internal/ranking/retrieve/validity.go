package retrieve

import (
	"strings"

	"github.com/redsi/redsi/internal/corpora/docid"
)

// Validity is when a hypothesis names a document.
type Validity string

const (
	// ByTokens: its tokens are an identifier's tokens (paper, "Post-filtered decoding": y ∈ Y).
	ByTokens Validity = "tokens"
	// ByText: its text is an identifier's text, as in the paper's released code: other tokens for the same digits, too,
	// and a hypothesis that spells an identifier but has not ended.
	ByText Validity = "text"
)

// Texts are the places of identifiers by their texts.
type Texts map[string]int

// TextsOf is empty for identifiers with tokens of their own, which have no text.
func TextsOf(ids *docid.Set) Texts {
	t := Texts{}
	if ids.Kind.GrowsVocabulary() {
		return t
	}
	for i, id := range ids.Identifiers {
		t[id.Text] = i
	}
	return t
}

// Find is the place of the identifier that a hypothesis without special tokens spells.
// White space around it does not count.
func (t Texts) Find(text string) (place int, ok bool) {
	place, ok = t[strings.TrimSpace(text)]
	return place, ok
}
