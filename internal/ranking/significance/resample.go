package significance

import (
	"math"
	"slices"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/system/values"
)

// exactQueries is for how many queries that differ all signs are tried: 2^20.
const exactQueries = 20

// slack takes sums that differ by rounding only for equal.
const slack = 1e-12

// Permutation is Fisher's randomization test of the mean difference, two-sided: the share
// of assignments of signs to the differences whose mean is as far from 0. All of them are
// tried if few queries differ; else samples of them are drawn, and p is (hits+1)/(samples+1).
func (d Differences) Permutation(samples int, seed uint64) (p float64, exact bool) {
	var values []float64 // without zeros, whose sign does not matter
	sum, scale := 0.0, 0.0
	for _, v := range d.Values {
		if v != 0 {
			values = append(values, v)
			sum += v
			scale += math.Abs(v)
		}
	}
	if len(values) == 0 {
		return 1, true
	}
	bound := math.Abs(sum) - slack*scale
	if len(values) <= exactQueries {
		return exactSigns(values, bound), true
	}
	r := splitmix.Source(seed)
	hits := 0
	for range samples {
		total := 0.0
		var word uint64
		for i, v := range values {
			if i%64 == 0 {
				word = r.Next()
			}
			total += math.Float64frombits(math.Float64bits(v) ^ word<<63)
			word >>= 1
		}
		if math.Abs(total) >= bound {
			hits++
		}
	}
	return float64(hits+1) / float64(samples+1), false
}

// exactSigns is the share of all signs whose sum is at least bound from 0. A sign and its
// opposite count alike, so the last value keeps its own.
func exactSigns(values []float64, bound float64) float64 {
	last := len(values) - 1
	hits := 0
	for signs := range 1 << last {
		total := values[last]
		for i, v := range values[:last] {
			if signs>>i&1 == 1 {
				v = -v
			}
			total += v
		}
		if math.Abs(total) >= bound {
			hits++
		}
	}
	return float64(hits) / float64(int(1)<<last)
}

// Bootstrap draws queries with replacement. p is of the shifted bootstrap (Smucker, Allan,
// Carterette, 2007): how often the mean of differences, moved so that theirs is 0, is as
// far from 0, (hits+1)/(samples+1). low and high are percentiles of the mean difference.
func (d Differences) Bootstrap(samples int, seed uint64, confidence float64) (p, low, high float64) {
	n := len(d.Values)
	scale := 0.0
	for _, v := range d.Values {
		scale = max(scale, math.Abs(v))
	}
	bound := math.Abs(d.Mean) - slack*scale
	r := splitmix.Source(seed)
	hits := 0
	means := make([]float64, samples)
	for i := range means {
		total := 0.0
		for range n {
			total += d.Values[r.Below(n)]
		}
		means[i] = total / float64(n)
		if math.Abs(means[i]-d.Mean) >= bound {
			hits++
		}
	}
	slices.Sort(means)
	return float64(hits+1) / float64(samples+1), values.Quantile(means, 0.5-confidence/2), values.Quantile(means, 0.5+confidence/2)
}
