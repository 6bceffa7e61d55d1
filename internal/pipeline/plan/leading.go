package plan

import (
	"iter"
	"math/bits"
)

// Leading pairs ends, by their number, with the steps that lead to them: 64 ends at a time, in the order of steps.
func (p *Plan) Leading(ends []int) iter.Seq2[int, int] {
	return func(yield func(end, step int) bool) {
		sets := make([]uint64, len(p.Steps)) // bit n is of end first+n
		for first := 0; first < len(ends); first += 64 {
			clear(sets)
			for n, i := range ends[first:min(len(ends), first+64)] {
				sets[i] |= 1 << n
			}
			for i := len(sets) - 1; i >= 0; i-- { // what reads a step stands behind it
				for _, d := range p.Steps[i].Deps {
					sets[d] |= sets[i]
				}
			}
			for i, set := range sets {
				for ; set != 0; set &= set - 1 {
					if !yield(first+bits.TrailingZeros64(set), i) {
						return
					}
				}
			}
		}
	}
}

// Rendered are the places of the plan's tables and figures.
func (p *Plan) Rendered() (list []int) {
	for i, s := range p.Steps {
		if s.IsRendered() {
			list = append(list, i)
		}
	}
	return list
}
