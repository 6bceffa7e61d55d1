package overlap

import (
	"cmp"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// Near defines near duplicates, by the Jaccard index of their shingles: runs of so many words, or a shorter text.
type Near struct {
	Threshold float64 // above 0, at most 1
	Shingle   int     // words, at least 1
	Seed      int
}

// hashes is a sketch's size; missed bounds the chance that a pair exactly at the threshold shares no band.
const (
	hashes = 128
	missed = 1e-4
)

// sketch cuts the MinHash values of a set into bands. Two sets that agree in all rows of a band are candidates. Bands are as
// long as missed allows: longer bands propose fewer candidates.
type sketch struct {
	Near
	bands, rows int
	seeds       [hashes]uint64
}

func newSketch(near Near) *sketch {
	s := &sketch{Near: near, bands: hashes, rows: 1}
	for r := 2; r <= hashes; r++ {
		n := hashes / r
		if math.Pow(1-math.Pow(near.Threshold, float64(r)), float64(n)) > missed {
			break
		}
		s.bands, s.rows = n, r
	}
	if near.Threshold == 1 { // equal sets share any band
		s.bands, s.rows = 1, 1
	}
	state := uint64(near.Seed)
	for i := range s.seeds {
		state += splitmix.Gamma
		s.seeds[i] = splitmix.Finish(state)
	}
	return s
}

// appendSet appends the shingles of a text, given by its words: sorted, each once.
func (s *sketch) appendSet(list []uint64, words []uint64) []uint64 {
	from := len(list)
	switch n := s.Shingle; {
	case len(words) == 0:
		return list
	case n == 1:
		list = append(list, words...)
	case len(words) < n:
		list = append(list, sequence(words))
	default:
		for i := range len(words) - n + 1 {
			list = append(list, sequence(words[i:i+n]))
		}
	}
	slices.Sort(list[from:])
	return list[:from+len(slices.Compact(list[from:]))]
}

func (s *sketch) appendBands(keys []uint32, set []uint64) []uint32 {
	for b := range s.bands {
		key := uint64(b)
		for _, seed := range s.seeds[b*s.rows : (b+1)*s.rows] {
			least := uint64(math.MaxUint64)
			for _, x := range set {
				least = min(least, splitmix.Finish(x^seed))
			}
			key = splitmix.Finish(key*splitmix.Gamma + least)
		}
		keys = append(keys, uint32(key>>32))
	}
	return keys
}

// each visits the groups of items that share a band's key, ascending, without skipped items; keys are item by item.
func (s *sketch) each(keys []uint32, skip func(i int32) bool, visit func(band int, group []uint64)) {
	n := len(keys) / s.bands
	order := make([]uint64, 0, n)
	for b := range s.bands {
		order = order[:0]
		for i := range n {
			if !skip(int32(i)) {
				order = append(order, uint64(keys[i*s.bands+b])<<32|uint64(uint32(i)))
			}
		}
		slices.Sort(order)
		for from := 0; from < len(order); {
			to := from + 1
			for to < len(order) && order[to]>>32 == order[from]>>32 {
				to++
			}
			if to > from+1 {
				visit(b, order[from:to])
			}
			from = to
		}
	}
}

func item(member uint64) int32 { return int32(uint32(member)) }

// similar visits, once, each near-duplicate pair i < j of items that share a band; set returns an item's shingles. It
// returns the number of pairs of large groups that it did not compare.
func (s *sketch) similar(keys []uint32, skip func(i int32) bool, set func(i int32) []uint64, visit func(i, j int32, similarity float64)) (left int64) {
	var in index
	s.each(keys, skip, func(band int, group []uint64) {
		verify := func(i, j int32) {
			if s.shared(keys, band, i, j) {
				return // compared before
			}
			if sim := jaccard(set(i), set(j), s.Threshold); sim >= s.Threshold {
				visit(min(i, j), max(i, j), sim)
			}
		}
		if len(group) > largeGroup {
			in.pairs(group, s.Threshold, set, verify)
			return
		}
		for k, a := range group {
			for _, b := range group[:k] {
				verify(item(b), item(a))
			}
		}
	})
	return in.left
}

// shared reports whether two items share a band before this one.
func (s *sketch) shared(keys []uint32, band int, i, j int32) bool {
	a, b := keys[int(i)*s.bands:], keys[int(j)*s.bands:]
	for k := range band {
		if a[k] == b[k] {
			return true
		}
	}
	return false
}

// jaccard returns the Jaccard index of two sorted sets, or any number below threshold for an index below it.
func jaccard(a, b []uint64, threshold float64) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if float64(len(a)) < threshold*float64(len(b)) {
		return 0
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			both, i, j = both+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// largeGroup is the size above which not all pairs of a group are compared.
const largeGroup = 64

// manyPairs is how many earlier sets with a common element a set of a large group is compared with: a hundred thousand
// questions of one pattern have five billion pairs.
const manyPairs = 1000

// index finds the pairs of a large group, such as questions of one pattern, without looking at all of them: if two sets are
// similar enough, their rarest elements, one more than either may lack of the other, have one in common.
type index struct {
	left  int64 // pairs left out by manyPairs
	often map[uint64]int32
	by    map[uint64][]int32
	seen  map[int32]bool
	rare  []uint64
}

func (x *index) pairs(group []uint64, threshold float64, set func(int32) []uint64, visit func(i, j int32)) {
	x.often, x.by, x.seen = map[uint64]int32{}, map[uint64][]int32{}, map[int32]bool{}
	for _, m := range group {
		for _, e := range set(item(m)) {
			x.often[e]++
		}
	}
	for _, m := range group {
		j := item(m)
		x.rare = append(x.rare[:0], set(j)...)
		slices.SortFunc(x.rare, func(a, b uint64) int {
			return cmp.Or(cmp.Compare(x.often[a], x.often[b]), cmp.Compare(a, b))
		})
		prefix := len(x.rare) - int(math.Ceil(threshold*float64(len(x.rare))-1e-9)) + 1
		clear(x.seen)
		for _, e := range x.rare[:min(prefix, len(x.rare))] {
			others := x.by[e]
			if n := len(others) - manyPairs; n > 0 {
				x.left += int64(n)
				others = others[:manyPairs]
			}
			for _, i := range others {
				if !x.seen[i] {
					x.seen[i] = true
					visit(i, j)
				}
			}
			x.by[e] = append(x.by[e], j)
		}
	}
}
