package significance

import (
	"math"
	"slices"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/system/lists"
)

// Table is the values of systems: a list for each, query by query.
type Table [][]float64

func (t Table) means() []float64 {
	return lists.Map(t, func(values []float64) float64 { return sum(values) / float64(len(values)) })
}

// TukeyHSD gives p of every pair of systems by Tukey's honestly significant difference, with queries as blocks: the
// error is what system and query do not explain (two-way analysis of variance), and the range of the means over it is
// compared with the studentized range. For two systems it is the paired t-test.
func (t Table) TukeyHSD() func(a, b int) float64 {
	k, n := len(t), len(t[0])
	means := t.means()
	grand := 0.0
	for _, m := range means {
		grand += m / float64(k)
	}
	squares, scale := 0.0, 0.0
	for q := range n {
		mean := 0.0
		for s := range k {
			mean += t[s][q] / float64(k)
		}
		for s := range k {
			rest := t[s][q] - mean - means[s] + grand
			squares += float64(rest * rest)
			scale = max(scale, math.Abs(t[s][q]))
		}
	}
	df := float64((k - 1) * (n - 1))
	deviation := math.Sqrt(squares/df) / math.Sqrt(float64(n))
	return func(a, b int) float64 {
		diff := math.Abs(means[a] - means[b])
		switch {
		case diff <= slack*scale || df == 0:
			return 1
		case deviation <= slack*scale:
			return 0
		}
		return StudentizedRange(diff/deviation, k, df)
	}
}

// RandomizedTukeyHSD gives p of every pair without the assumption of normal values (Carterette, 2012): how often, when
// each query's values are dealt to the systems at random, the range of all means is as wide as the pair's difference.
func (t Table) RandomizedTukeyHSD(samples int, seed uint64) func(a, b int) float64 {
	k, n := len(t), len(t[0])
	rows := lists.Map(lists.Places(n), func(q int) []float64 {
		return lists.Map(t, func(system []float64) float64 { return system[q] })
	})
	ranges := make([]float64, samples)
	r := splitmix.Source(seed)
	sums := make([]float64, k)
	for i := range ranges {
		clear(sums)
		for _, row := range rows {
			for s := k - 1; s > 0; s-- {
				o := r.Below(s + 1)
				row[s], row[o] = row[o], row[s]
			}
			for s, v := range row {
				sums[s] += v
			}
		}
		ranges[i] = (slices.Max(sums) - slices.Min(sums)) / float64(n)
	}
	means := t.means()
	return func(a, b int) float64 {
		diff := math.Abs(means[a] - means[b])
		hits := lists.Count(ranges, func(v float64) bool { return v >= diff*(1-slack)-1e-15 })
		return float64(hits+1) / float64(samples+1)
	}
}
