package docid

import (
	"fmt"
	"strconv"

	"github.com/redsi/redsi/internal/system/lists"
)

// Naive gives every document a different number of {0, …, budget-1}, an unpadded decimal: the first len(documents) elements
// of generator's permutation for seed (appendix "naive identifiers").
func Naive(documents []string, budget, seed uint64, generator Generator, encode Encoder) (*Set, error) {
	if uint64(len(documents)) > budget {
		return nil, fmt.Errorf("naive identifiers: a budget of %d is too small for %d documents; it must be at least their number", budget, len(documents))
	}
	numbers, err := generator.head(len(documents), budget, seed)
	if err != nil {
		return nil, fmt.Errorf("naive identifiers: %w", err)
	}
	texts := lists.Map(numbers, func(n uint64) string { return strconv.FormatUint(n, 10) })
	return newSet(KindNaive, documents, texts, encode)
}
