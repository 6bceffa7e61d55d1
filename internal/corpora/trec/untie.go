package trec

import (
	"math"
	"slices"
)

// Untie returns rankings that trec_eval, which orders equal float32 scores by document name, ranks as given: a score that is
// not below its predecessor, as float32, becomes the greatest float32 below it. A ranking with a score beyond float32 is
// scored by position. The second result counts changed scores.
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
