package subword

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/tokenize"
)

// T5 is T5's own tokenizer, SentencePiece's Unigram, which has <pad>, </s> and <unk>. It is cased: nothing is
// lower-cased here. Runs of white space become one blank and NFKC is applied.
type T5 struct {
	*Subword
	Unk int32 // the id of <unk>
}

// LoadT5 reads a tokenizer.json or tokenizer.json.gz.
func LoadT5(path string) (*T5, error) { return tokenize.Load(path, NewT5) }

// NewT5 builds the tokenizer from the bytes of a tokenizer.json, plain or compressed.
func NewT5(data []byte) (*T5, error) {
	c, plain, err := tokenize.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("T5 tokenizer: %w", err)
	}
	if c.Model.Type != "Unigram" {
		return nil, fmt.Errorf("T5 tokenizer: its model is %q, want Unigram", c.Model.Type)
	}
	t := new(T5)
	for _, token := range []string{"<pad>", "</s>", "<unk>"} {
		if t.Unk, err = c.Special(token); err != nil {
			return nil, fmt.Errorf("T5 tokenizer: %w", err)
		}
	}
	if t.Subword, err = newSubword(c, plain); err != nil {
		return nil, fmt.Errorf("T5 tokenizer: %w", err)
	}
	return t, nil
}

// HasUnknown reports whether the tokens of text include <unk> (special tokens
// are not added; paper, appendix "Pronunciation Cleanup").
func (t *T5) HasUnknown(text string) bool {
	return slices.Contains(t.encode(text, false), t.Unk)
}
