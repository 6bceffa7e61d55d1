package docid

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/mathext/prng"

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

// Generator names a way to turn a seed into a permutation. A seed gives the same permutation for ever.
type Generator string

const (
	// GeneratorPython is random.Random(seed).shuffle(list(range(b))) of Python. It holds all numbers, 4 bytes each.
	GeneratorPython Generator = "python"
	// GeneratorPCG holds only a permutation's head; a longer head begins with the same numbers.
	GeneratorPCG Generator = "pcg"
)

// head returns the first n elements of a permutation of {0, …, b-1}; n is at most b.
func (g Generator) head(n int, b, seed uint64) ([]uint64, error) {
	switch g {
	case GeneratorPython:
		if b > math.MaxUint32 {
			return nil, fmt.Errorf("generator %s holds all numbers in memory, at most %d, not %d; use generator %s, which has no bound", g, uint32(math.MaxUint32), b, GeneratorPCG)
		}
		return pythonHead(n, uint32(b), seed), nil
	case GeneratorPCG:
		return pcgHead(n, b, seed), nil
	}
	return nil, fmt.Errorf("generator %q, want %s or %s", g, GeneratorPython, GeneratorPCG)
}

// pythonSource is MT19937 as CPython's random.Random(seed) seeds it: with the seed's 32-bit words, lowest first.
func pythonSource(seed uint64) *prng.MT19937 {
	source := prng.NewMT19937()
	key := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high > 0 {
		key = append(key, high)
	}
	source.SeedFromKeys(key)
	return source
}

// pythonHead is Fisher and Yates's shuffle from the back, drawing as many top bits as n has until they are below n.
func pythonHead(n int, b uint32, seed uint64) []uint64 {
	source := pythonSource(seed)
	list := make([]uint32, b)
	for i := range list {
		list[i] = uint32(i)
	}
	for i := len(list) - 1; i >= 1; i-- {
		shift := 32 - bits.Len32(uint32(i+1))
		j := source.Uint32() >> shift
		for j > uint32(i) {
			j = source.Uint32() >> shift
		}
		list[i], list[j] = list[j], list[i]
	}
	return lists.Map(list[:n], func(v uint32) uint64 { return uint64(v) })
}

// pcgHead is Fisher and Yates's shuffle from the front, without storing untouched elements. Its numbers are the 64-bit
// outputs of PCG (seed, 0), mapped to a range by Lemire's multiplication with rejection.
func pcgHead(n int, b, seed uint64) []uint64 {
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
