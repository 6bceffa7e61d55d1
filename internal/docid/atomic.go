package docid

import (
	"fmt"
	"math"
)

// FirstAtomicToken is where the vocabulary of a T5 checkpoint is extended: its
// embedding has 32,128 rows, 28 more than the tokenizer has entries.
// NOTE: transformers' add_tokens would begin at the tokenizer's 32,100 and reuse
// those 28 rows; here every document gets a new row and every old one keeps its
// place.
const FirstAtomicToken = 32_128

// Atomic gives document i the one token first+i; first is the number of rows of
// the model's embedding before it is extended by len(documents) rows. The
// sequence has no </s>: one decoder step ranks all documents.
func Atomic(documents []string, first int32) (*Set, error) {
	if first < 0 || int64(first)+int64(len(documents)) > math.MaxInt32 {
		return nil, fmt.Errorf("atomic identifiers: %d documents from token %d do not fit 31 bits", len(documents), first)
	}
	s := &Set{Kind: KindAtomic, Identifiers: make([]Identifier, len(documents))}
	for i, d := range documents {
		s.Identifiers[i] = Identifier{Document: d, Text: fmt.Sprintf("doc_%04d", i), Tokens: []int32{first + int32(i)}}
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}
