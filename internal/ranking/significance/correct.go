package significance

import (
	"cmp"
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
)

// Bonferroni multiplies each p by their number.
func Bonferroni(ps []float64) []float64 {
	return lists.Map(ps, func(p float64) float64 { return min(1, p*float64(len(ps))) })
}

// BenjaminiHochberg steps up, for the expected share of false discoveries (Benjamini and Hochberg, 1995): the
// largest p counts as it is, the next for n/(n-1), and none is above one after it.
func BenjaminiHochberg(ps []float64) []float64 {
	order := lists.Places(len(ps))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[b], ps[a]) })
	out := make([]float64, len(ps))
	most := 1.0
	for rank, i := range order {
		most = min(most, ps[i]*float64(len(ps))/float64(len(ps)-rank))
		out[i] = most
	}
	return out
}

// Holm steps down: the smallest p counts for all of them, the next for one less, and none is below one before it.
func Holm(ps []float64) []float64 {
	order := lists.Places(len(ps))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	out := make([]float64, len(ps))
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, ps[i]*float64(len(ps)-rank)))
		out[i] = least
	}
	return out
}
