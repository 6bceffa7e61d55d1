package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
)

// unjudged is the grade of a rank whose document nobody judged, or that has none.
const unjudged = math.MinInt32

// view is a ranking as measures see it: only grades are left of documents.
type view struct {
	grades []int  // by rank
	beam   []bool // of the unfiltered ranking: whether there is a document
	ideal  []int  // grades of all the query's judgments, best first

	seen map[string]struct{} // documents, while a ranking is looked at
}

// onlyJudged is the view without the ranks whose document nobody judged, or judged below 0, as trec_eval -J.
func (v *view) onlyJudged() *view {
	return &view{grades: lists.Filter(v.grades, func(g int) bool { return g >= 0 }), ideal: v.ideal}
}

// relevant is how many documents of the query have a grade of at least rel.
func (v *view) relevant(rel int) int {
	return lists.Count(v.ideal, func(g int) bool { return g >= rel })
}

// top are the grades of the ranks that are looked at.
func (v *view) top(m Metric) []int { return v.grades[:min(cmp.Or(m.k, len(v.grades)), len(v.grades))] }

// share is n of all; 0 of none.
func share(n, all int) float64 { return float64(n) / float64(max(1, all)) }

func hits(v *view, m Metric) float64 {
	if first(v, m) < 0 {
		return 0
	}
	return 1
}

func reciprocalRank(v *view, m Metric) float64 {
	i := first(v, m)
	if i < 0 {
		return 0
	}
	return 1 / float64(i+1)
}

// first is the place of the first relevant document, -1 for none.
func first(v *view, m Metric) int {
	rel := m.relevant()
	return slices.IndexFunc(v.top(m), func(g int) bool { return g >= rel })
}

// found is how many relevant documents stand among the first k.
func found(v *view, k, rel int) int {
	return lists.Count(v.grades[:min(k, len(v.grades))], func(g int) bool { return g >= rel })
}

func precision(v *view, m Metric) float64 { return share(found(v, m.k, m.relevant()), m.k) }

func recall(v *view, m Metric) float64 {
	return share(found(v, m.k, m.relevant()), v.relevant(m.relevant()))
}

func rPrecision(v *view, m Metric) float64 {
	all := v.relevant(m.relevant())
	return share(found(v, all, m.relevant()), all)
}

// interpolatedPrecision is trec_eval's, which asks for recall x relevant documents, rounded up from a tenth on.
func interpolatedPrecision(v *view, m Metric) float64 {
	rel := m.relevant()
	least := int(m.recall*float64(v.relevant(rel)) + 0.9)
	best, n := 0.0, 0
	for i, g := range v.grades {
		if g >= rel {
			n++
		}
		if n >= least {
			best = max(best, share(n, i+1))
		}
	}
	return best
}

func rankBiased(v *view, m Metric) float64 {
	p := cmp.Or(m.stay, usualStay)
	sum, here := 0.0, 1-p
	for _, g := range v.top(m) {
		if g >= m.relevant() {
			sum += here
		}
		here *= p
	}
	return sum
}

func expectedReciprocalRank(v *view, m Metric) float64 {
	sum, goesOn := 0.0, 1.0
	for i, g := range v.top(m) {
		if g < 1 {
			continue
		}
		stops := (math.Exp2(float64(g)) - 1) / math.Exp2(float64(m.family.most))
		sum += stops * goesOn / float64(i+1)
		goesOn *= 1 - stops
	}
	return sum
}

// averagePrecision divides by all relevant documents, found or not, also under a cutoff.
func averagePrecision(v *view, m Metric) float64 {
	rel := m.relevant()
	sum, n := 0.0, 0
	for i, g := range v.top(m) {
		if g >= rel {
			n++
			sum += float64(n) / float64(i+1)
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(v.relevant(rel))
}

func ndcg(v *view, m Metric) float64 {
	k := cmp.Or(m.k, math.MaxInt)
	ideal := dcg(v.ideal[:min(k, len(v.ideal))], m.exp)
	if ideal == 0 {
		return 0
	}
	return dcg(v.top(m), m.exp) / ideal
}

// dcg sums gains; a grade below 1 has none.
func dcg(grades []int, exp bool) float64 {
	sum := 0.0
	for i, g := range grades {
		if g < 1 {
			continue
		}
		gain := float64(g)
		if exp {
			gain = math.Exp2(gain) - 1
		}
		sum += gain / math.Log2(float64(i+2))
	}
	return sum
}

// bpref is trec_eval's. Documents of negative grade count as not judged, as they do there.
func bpref(v *view, m Metric) float64 {
	rel := m.relevant()
	all := v.relevant(rel)
	if all == 0 {
		return 0
	}
	not := lists.Count(v.ideal, func(g int) bool { return g >= 0 && g < rel })
	sum, above := 0.0, 0
	for _, g := range v.grades {
		switch {
		case g >= rel && above == 0:
			sum++
		case g >= rel:
			sum += 1 - float64(min(above, all))/float64(min(not, all))
		case g >= 0:
			above++
		}
	}
	return sum / float64(all)
}

// judgedShare divides by the ranks that there are, as ir_measures does.
func judgedShare(v *view, m Metric) float64 {
	return share(lists.Count(v.top(m), func(g int) bool { return g != unjudged }), len(v.top(m)))
}

// invalid is the share of a beam that post-filtering removes: hypotheses without document
// over k, the number that was asked for (paper: Invalid@40).
func invalid(v *view, m Metric) float64 {
	return share(lists.Count(v.beam[:min(m.k, len(v.beam))], func(document bool) bool { return !document }), m.k)
}
