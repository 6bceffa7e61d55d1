package plan

// Leading finds which steps lead to which ends, 64 ends at a time: bit n of a step's set is
// of end first+n. The sets are good until use returns.
func (p *Plan) Leading(ends []int, use func(first int, sets []uint64)) {
	sets := make([]uint64, len(p.Steps))
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
		use(first, sets)
	}
}
