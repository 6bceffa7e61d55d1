package kmeans

import "gonum.org/v1/gonum/mathext/prng"

// mersenne is MT19937, seeded and read as numpy's RandomState does.
type mersenne struct{ prng.MT19937 }

func newMersenne(seed uint32) *mersenne {
	var m mersenne
	m.Seed(uint64(seed))
	return &m
}

// float64 is uniform in [0, 1) with 53 bits (numpy: random_sample).
func (m *mersenne) float64() float64 {
	a, b := m.Uint32()>>5, m.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}
