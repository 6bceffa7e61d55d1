package metrics

import (
	"math"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/system/lists"
)

// Agreement is how alike two rankings of a query are, as fractions.
type Agreement struct {
	Tau     float64 // Kendall's, of the documents that both have; NaN for fewer than two
	RBO     float64 // rank-biased overlap down to the end of the shorter one
	RBOExt  float64 // with what is not seen extrapolated
	RBONorm float64 // repro_eval's: what is seen over the most that it could be
	Overlap []float64
}

// AgreementDepths says how deep rankings are compared.
type AgreementDepths struct {
	Depth   int     // of tau and RBO
	P       float64 // persistence of RBO
	Overlap []int   // share of the first k that both have
}

// Of compares two rankings, best first, each document once.
func (o AgreementDepths) Of(a, b []string) Agreement {
	x, y := a[:min(o.Depth, len(a))], b[:min(o.Depth, len(b))]
	g := Agreement{Tau: commonTau(x, y)}
	g.RBO, g.RBOExt, g.RBONorm = rbo(x, y, o.P)
	for _, k := range o.Overlap {
		g.Overlap = append(g.Overlap, share(common(a[:min(k, len(a))], b[:min(k, len(b))]), k))
	}
	return g
}

func common(a, b []string) int {
	in := lists.Set(a)
	return lists.Count(b, func(d string) bool { return in[d] })
}

// commonTau is Kendall's tau of the documents that are in both.
func commonTau(a, b []string) float64 {
	place := make(map[string]int, len(b))
	for i, d := range b {
		place[d] = i
	}
	var order []int
	for _, d := range a {
		if at, ok := place[d]; ok {
			order = append(order, at)
		}
	}
	n := len(order)
	if n < 2 {
		return math.NaN()
	}
	swaps := inversions(order, make([]int, n))
	return 1 - 4*float64(swaps)/(float64(n)*float64(n-1))
}

// inversions sorts, and counts the pairs that stood the other way.
func inversions(v, buf []int) int {
	if len(v) < 2 {
		return 0
	}
	half := len(v) / 2
	n := inversions(v[:half], buf[:half]) + inversions(v[half:], buf[half:])
	i, j := 0, half
	for k := range v {
		if j == len(v) || i < half && v[i] <= v[j] {
			buf[k] = v[i]
			i++
		} else {
			buf[k] = v[j]
			n += half - i
			j++
		}
	}
	copy(v, buf)
	return n
}

// rbo is rank-biased overlap (Webber, Moffat, Zobel, 2010): of the depths that both have,
// extrapolated by their equation 32, and over the sum of all weights down to the longer.
func rbo(a, b []string, p float64) (seen, ext, norm float64) {
	if len(a) > len(b) {
		a, b = b, a
	}
	short, long := len(a), len(b)
	switch {
	case long == 0:
		return 1, 1, 1
	case short == 0:
		return 0, 0, 0
	}
	inA, inB := make(map[string]bool, short), make(map[string]bool, long)
	overlap, atShort := 0, 0
	weight := 1.0 // p^(d-1)
	normWeights, last := 0.0, 0.0
	all, beyond := 0.0, 0.0 // sums of the extrapolated form
	for i := range long {
		d := float64(i + 1)
		if i < short {
			inA[a[i]] = true
			if inB[a[i]] {
				overlap++
			}
		}
		inB[b[i]] = true
		if inA[b[i]] {
			overlap++
		}
		agreement := float64(overlap) / d
		term := weight * agreement
		if i < short {
			seen += (1 - p) * term
			atShort = overlap
			last = agreement * weight * p
		} else {
			s := float64(short)
			beyond += (1 - p) * weight * float64(atShort) * (d - s) / d / s
			last = (float64(overlap-atShort)/d + float64(atShort)/s) * weight * p
		}
		all += (1 - p) * term
		norm += term
		normWeights += weight
		weight *= p
	}
	return seen, min(1, all+beyond+last), norm / normWeights
}

// RMSE is the root of the mean squared difference of two systems, query by query.
func RMSE(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		d := a[i] - b[i]
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(len(a)))
}

// Documents are the documents of a ranking, each once, best first.
func Documents(r *trec.Ranking) []string {
	names := lists.Map(r.Hypotheses, func(h trec.Hypothesis) string { return h.Document })
	return lists.Unique(lists.Filter(names, func(name string) bool { return name != "" }))
}
