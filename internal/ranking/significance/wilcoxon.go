package significance

import (
	"cmp"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
)

// Wilcoxon is the signed-rank test, two-sided: the smaller sum of ranks, and p by the normal approximation with a
// correction for ties, as scipy.stats.wilcoxon with method="approx". Queries without a difference are left out.
func (d Differences) Wilcoxon() (statistic, p float64) {
	values := lists.Filter(d.Values, func(v float64) bool { return v != 0 })
	n := float64(len(values))
	if n == 0 {
		return 0, 1
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	plus, minus, tied := 0.0, 0.0, 0.0
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && math.Abs(values[to]) == math.Abs(values[from]) {
			to++
		}
		rank, t := float64(from+1+to)/2, float64(to-from)
		tied += t*t*t - t
		for _, v := range values[from:to] {
			if v > 0 {
				plus += rank
			} else {
				minus += rank
			}
		}
		from = to
	}
	statistic = min(plus, minus)
	variance := n*(n+1)*(2*n+1)/24 - tied/48
	z := (statistic - n*(n+1)/4) / math.Sqrt(variance)
	return statistic, min(1, math.Erfc(math.Abs(z)/math.Sqrt2))
}
