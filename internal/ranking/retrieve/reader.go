package retrieve

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/pytext"
)

// Inputs are how texts become what a model reads. The special tokens that the tokenizer
// puts around a text are beyond every length.
type Inputs struct {
	MaxInput    int    `json:"max_input"` // ℓ: first tokens of a document, its prefix not counted
	MaxQuery    int    `json:"max_query"` // first tokens of a query, its prefix counted
	IndexPrefix string `json:"index_prefix,omitempty"`
	QueryPrefix string `json:"query_prefix,omitempty"`
	Lowercase   bool   `json:"lowercase"` // texts and queries first of all, not the prefixes
}

// Check says what is wrong with the lengths.
func (in Inputs) Check() error {
	switch {
	case in.MaxInput < 1:
		return fmt.Errorf("max_input %d; at least 1 is needed", in.MaxInput)
	case in.MaxQuery < 1:
		return fmt.Errorf("max_query %d; at least 1 is needed", in.MaxQuery)
	}
	return nil
}

// Tokenizer is a model's, as *subword.Subword is.
type Tokenizer interface {
	Pieces(text string) []int32
	PiecesPrefix(text string, limit int) []int32
	WithSpecialTokens(ids []int32) []int32
}

// Reader turns documents and queries into what a model reads: the same in training, evaluation and search.
type Reader struct {
	Inputs
	Tokenizer    Tokenizer
	index, query []int32 // tokens of the prefixes
}

// Reader reads as in says. A prefix is tokenized on its own, so its tokens are the same before any text. It fails if
// the query's prefix leaves no room for a query.
func (in Inputs) Reader(t Tokenizer) (Reader, error) {
	r := Reader{in, t, t.Pieces(in.IndexPrefix), t.Pieces(in.QueryPrefix)}
	if len(r.query) >= in.MaxQuery {
		return Reader{}, fmt.Errorf("query_prefix %q has %d tokens, and max_query is %d: at least %d is needed", in.QueryPrefix, len(r.query), in.MaxQuery, len(r.query)+1)
	}
	return r, nil
}

// Document is what the model reads of a document.
func (r Reader) Document(text string) []int32 {
	return r.Tokenizer.WithSpecialTokens(slices.Concat(r.index, r.Tokenizer.PiecesPrefix(r.cased(text), r.MaxInput)))
}

// Query is what the model reads of a query, and whether the query has more.
func (r Reader) Query(text string) (tokens []int32, truncated bool) {
	room := r.MaxQuery - len(r.query)
	pieces := r.Tokenizer.PiecesPrefix(r.cased(text), room+1)
	return r.Tokenizer.WithSpecialTokens(slices.Concat(r.query, pieces[:min(room, len(pieces))])), len(pieces) > room
}

func (r Reader) cased(text string) string {
	if r.Lowercase {
		return pytext.Lower(text)
	}
	return text
}
