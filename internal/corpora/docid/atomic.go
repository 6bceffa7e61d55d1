package docid

import (
	"fmt"
	"math"
	"strconv"
)

// FirstAtomicToken is the first token beyond T5's tokenizer; 28 documents use spare rows of the 32,128 embeddings.
const FirstAtomicToken = 32_100

// Atomic gives document i the token first+i, named "<doc_000123>" with the last document's digits. Without </s>, one
// decoder step ranks all documents; with eos, a training target ends with that token and the ranking step stays the same.
func Atomic(documents []string, first int32, eos ...int32) (*Set, error) {
	if first < 0 || int64(first)+int64(len(documents)) > math.MaxInt32 {
		return nil, fmt.Errorf("atomic identifiers: %d documents from token %d do not fit 31 bits", len(documents), first)
	}
	s := &Set{Kind: KindAtomic, Identifiers: make([]Identifier, len(documents))}
	digits := len(strconv.Itoa(max(0, len(documents)-1)))
	for i, d := range documents {
		tokens := append([]int32{first + int32(i)}, eos...)
		s.Identifiers[i] = Identifier{Document: d, Text: fmt.Sprintf("<doc_%0*d>", digits, i), Tokens: tokens}
	}
	return s, s.Check()
}
