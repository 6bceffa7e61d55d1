package trec

import (
	"math"
	"slices"
)

// Untie returns rankings that trec_eval, which reads scores as float32 and orders equal
// ones by the documents' names, ranks as they are given: a score that is not below the
// one before it, as a float32, becomes the greatest that is. All others stay. A ranking
// with a score that float32 has no number for is scored by position. The second result
// is how many scores became others.
func Untie(rankings []Ranking) ([]Ranking, int) {
	out := make([]Ranking, len(rankings))
	moved := 0
	for i, r := range rankings {
		out[i] = Ranking{r.Query, slices.Clone(r.Hypotheses)}
		moved += untie(out[i].Hypotheses)
	}
	return out, moved
}

func untie(hs []Hypothesis) (moved int) {
	last := float32(math.Inf(1))
	for i := range hs {
		s := float32(hs[i].Score)
		switch {
		case s != s: // NaN: for WriteRun to refuse
			return moved
		case s < last:
			last = s
			if !math.IsInf(float64(s), -1) {
				continue
			}
		default:
			last = math.Nextafter32(last, float32(math.Inf(-1)))
		}
		if math.IsInf(float64(last), -1) {
			for k := range hs {
				hs[k].Score = -float64(k + 1)
			}
			return len(hs)
		}
		hs[i].Score = float64(last)
		moved++
	}
	return moved
}
