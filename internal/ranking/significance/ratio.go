package significance

import (
	"cmp"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/system/values"
)

// Stratum is a part of a population of which clusters were drawn at random, each with what a
// ratio adds up above and below its line.
type Stratum struct {
	Above, Below []float64 // by cluster
	Fraction     float64   // of the stratum that was drawn, in (0, 1]; 1: all of it
	Weight       float64   // of its sums in the ratio; 0 is 1, which adds up what was drawn
}

// Ratio is the weighted sum above the line over the weighted sum below it, with percentiles by a cluster bootstrap. Of
// the n clusters of a stratum n - 1 are drawn with replacement, and the means move by sqrt(1 - Fraction) of what these
// move: the rescaling bootstrap of Rao and Wu (1988) with its correction for finite populations, which does not vary a
// stratum all of whose clusters were drawn. A stratum of one cluster cannot vary. All are NaN if the sum below is 0.
func Ratio(strata []Stratum, samples int, seed uint64, confidence float64) (value, low, high float64) {
	above, below := make([]float64, samples), make([]float64, samples)
	var sumAbove, sumBelow float64
	r := splitmix.Source(seed)
	for _, s := range strata {
		weight := cmp.Or(s.Weight, 1)
		a, b := weight*sum(s.Above), weight*sum(s.Below)
		sumAbove += a
		sumBelow += b
		n := len(s.Above)
		moved := math.Sqrt(1 - s.Fraction)
		for i := range samples {
			drawnA, drawnB := a, b
			if moved > 0 && n > 1 {
				drawnA, drawnB = 0, 0
				for range n - 1 {
					k := r.Below(n)
					drawnA += s.Above[k]
					drawnB += s.Below[k]
				}
				scale := weight * float64(n) / float64(n-1)
				drawnA, drawnB = drawnA*scale, drawnB*scale
			}
			above[i] += a + float64(moved*(drawnA-a))
			below[i] += b + float64(moved*(drawnB-b))
		}
	}
	if sumBelow == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	ratios := above[:0]
	for i, a := range above {
		if below[i] > 0 {
			ratios = append(ratios, a/below[i])
		}
	}
	value = sumAbove / sumBelow
	if len(ratios) == 0 {
		return value, value, value
	}
	slices.Sort(ratios)
	return value, values.Quantile(ratios, 0.5-confidence/2), values.Quantile(ratios, 0.5+confidence/2)
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}
