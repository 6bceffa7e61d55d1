package retrieve

import (
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/tokenize"
)

// Reader turns documents and queries into what a model reads: the same in training,
// evaluation and search.
type Reader struct {
	Tokenizer *tokenize.Subword
	MaxInput  int  // ℓ, special tokens included
	Lowercase bool // first of all
}

// Reader reads as the model was trained to.
func (s Settings) Reader(t *tokenize.Subword) Reader { return Reader{t, s.MaxInput, s.Lowercase} }

// Tokens are the first tokens of a text, with the special ones around them, and whether
// the text has more.
func (r Reader) Tokens(text string) (tokens []int32, truncated bool) {
	if r.Lowercase {
		text = dedup.Lower(text)
	}
	return r.Tokenizer.EncodeTruncated(text, r.MaxInput)
}
