package docid

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
)

// NaiveBudget is DSI's number of identifiers, b = 320K.
const NaiveBudget = 320_000

// Naive gives every document another number of {0, …, budget-1}, as a decimal
// without padding: the first len(documents) elements of a random permutation
// (appendix "naive identifiers").
//
// The permutation is a Fisher-Yates shuffle from the front, whose untouched
// elements are not stored, so memory grows with the documents, not the budget.
// Its random numbers are the 64-bit outputs of PCG (seed, 0), mapped to a range by
// Lemire's multiplication with rejection. Both are fixed: a seed gives the same
// assignment for ever. The first documents of a longer list keep their numbers.
func Naive(documents []string, budget, seed uint64, encode Encoder) (*Set, error) {
	if uint64(len(documents)) > budget {
		return nil, fmt.Errorf("naive identifiers: a budget of %d is too small for %d documents; it must be at least their number", budget, len(documents))
	}
	numbers := permutationHead(len(documents), budget, seed)
	texts := make([]string, len(documents))
	for i, n := range numbers {
		texts[i] = strconv.FormatUint(n, 10)
	}
	return newSet(KindNaive, documents, texts, encode)
}

// permutationHead returns the first n elements of a permutation of {0, …, b-1}.
func permutationHead(n int, b, seed uint64) []uint64 {
	source := rand.NewPCG(seed, 0)
	moved := make(map[uint64]uint64, n) // elements that are not at their own place
	at := func(i uint64) uint64 {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	out := make([]uint64, n)
	for i := range out {
		here := uint64(i)
		there := here + below(source, b-here)
		out[i] = at(there)
		moved[there] = at(here)
		delete(moved, here)
	}
	return out
}

// below is uniform in [0, n) (Lemire, 2019).
func below(source *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(source.Uint64(), n)
	if lo < n {
		for limit := -n % n; lo < limit; {
			hi, lo = bits.Mul64(source.Uint64(), n)
		}
	}
	return hi
}
