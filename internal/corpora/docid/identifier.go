package docid

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/system/lists"
)

// Identifier is the name that a model generates for a document.
type Identifier struct {
	Document string  // the document's own name in the collection
	Text     string  // "141913"; for an atomic identifier "<doc_000042>"
	Tokens   []int32 // what the decoder generates: with </s>, which a kind of one token may leave out
}

// Set is the identifiers of a collection, in document order.
type Set struct {
	Kind        Kind
	Identifiers []Identifier
}

// Encoder tokenizes many texts with the model's tokenizer, </s> included. It returns one slice per text, in order.
type Encoder func(texts []string) [][]int32

// newSet tokenizes texts and checks the result.
func newSet(kind Kind, documents, texts []string, encode Encoder) (*Set, error) {
	tokens := encode(texts)
	if len(tokens) != len(texts) {
		return nil, fmt.Errorf("%s identifiers: the tokenizer returned %d results for %d texts", kind, len(tokens), len(texts))
	}
	s := &Set{Kind: kind, Identifiers: make([]Identifier, len(documents))}
	for i, d := range documents {
		s.Identifiers[i] = Identifier{Document: d, Text: texts[i], Tokens: tokens[i]}
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// Check proves documents, texts and token sequences unique and no sequence empty; its error names both documents.
func (s *Set) Check() error {
	byDocument := make(map[string]struct{}, len(s.Identifiers))
	byText := make(map[string]int, len(s.Identifiers))
	byTokens := make(map[string]int, len(s.Identifiers))
	var key []byte
	for i, id := range s.Identifiers {
		if _, ok := byDocument[id.Document]; ok {
			return fmt.Errorf("%s identifiers: document %q occurs twice", s.Kind, id.Document)
		}
		byDocument[id.Document] = struct{}{}
		if j, ok := byText[id.Text]; ok {
			return fmt.Errorf("%s identifiers: documents %q and %q both have %q", s.Kind, s.Identifiers[j].Document, id.Document, id.Text)
		}
		byText[id.Text] = i
		if len(id.Tokens) == 0 {
			return fmt.Errorf("%s identifiers: %q of document %q has no tokens", s.Kind, id.Text, id.Document)
		}
		key = key[:0]
		for _, t := range id.Tokens {
			key = strconv.AppendInt(append(key, ' '), int64(t), 10)
		}
		if j, ok := byTokens[string(key)]; ok {
			return fmt.Errorf("%s identifiers: %q of document %q and %q of document %q have the same tokens%s",
				s.Kind, s.Identifiers[j].Text, s.Identifiers[j].Document, id.Text, id.Document, key)
		}
		byTokens[string(key)] = i
	}
	return nil
}

// Sequences returns the token sequences in document order.
func (s *Set) Sequences() [][]int32 {
	return lists.Map(s.Identifiers, func(id Identifier) []int32 { return id.Tokens })
}

// TokenRange returns the lowest first token and the highest token of any identifier: the added tokens, where the kind
// grows the vocabulary. For an empty set, the last is below the first.
func (s *Set) TokenRange() (first, last int32) {
	first, last = math.MaxInt32, -1
	for _, id := range s.Identifiers {
		first, last = min(first, id.Tokens[0]), max(last, slices.Max(id.Tokens))
	}
	return first, last
}
