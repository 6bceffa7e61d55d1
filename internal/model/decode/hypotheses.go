package decode

import (
	"cmp"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/lists"
)

// hypothesis is a finished or final prefix.
type hypothesis struct {
	sum    float32
	length int // tokens, without the start
	prefix *prefix
	score  float64
}

// hypotheses keeps the best of a query (transformers' BeamHypotheses).
type hypotheses struct {
	width   int
	penalty float64
	worst   float64
	kept    []hypothesis // in the order in which they came
}

// add keeps h if it is among the best.
func (k *hypotheses) add(h hypothesis) {
	h.score = float64(h.sum) / math.Pow(float64(h.length), k.penalty)
	if len(k.kept) >= k.width && !(h.score > k.worst) {
		return
	}
	k.kept = append(k.kept, h)
	if len(k.kept) <= k.width {
		k.worst = min(k.worst, h.score)
		return
	}
	lowest := 0
	for i, h := range k.kept {
		if h.score < k.kept[lowest].score {
			lowest = i
		}
	}
	k.kept = slices.Delete(k.kept, lowest, lowest+1)
	k.worst = slices.MinFunc(k.kept, byScore).score
}

func byScore(a, b hypothesis) int { return cmp.Compare(a.score, b.score) }

// done says whether the search may end after a step whose best candidate has the log-probability best.
func (k *hypotheses) done(b *Beam, best float32, step int) bool {
	if len(k.kept) < k.width {
		return false
	}
	length := step
	switch {
	case b.EarlyStopping == stopping.Full:
		return true
	case b.EarlyStopping == stopping.Never && b.LengthPenalty > 0:
		length = b.MaxTokens
	}
	return k.worst >= float64(best)/math.Pow(float64(length), b.LengthPenalty)
}

// best returns the n best, of equal scores the last first.
func (k *hypotheses) best(n int) []Hypothesis {
	slices.SortStableFunc(k.kept, byScore)
	slices.Reverse(k.kept)
	return lists.Map(k.kept[:min(n, len(k.kept))], func(h hypothesis) Hypothesis {
		return Hypothesis{Tokens: h.prefix.tokens(h.length), Score: h.score}
	})
}
