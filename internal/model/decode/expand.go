package decode

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
)

// ErrNaN says that a model's scores are not numbers.
var ErrNaN = errors.New("the model's scores are not numbers: its weights may have overflowed in training")

// beam is a live prefix.
type beam struct {
	sum    float32    // log-probability
	token  int32      // its last one
	parent int32      // its row, within its query, of the last step
	prefix *prefix    // all of its tokens
	node   docid.Node // of the trie
}

// prefix is a sequence that shares its beginning with others.
type prefix struct {
	before *prefix // nil: the start token alone
	token  int32
}

// tokens returns the first n tokens of a prefix of length n.
func (p *prefix) tokens(n int) []int32 {
	out := make([]int32, n)
	for i := n - 1; i >= 0; i-- {
		out[i], p = p.token, p.before
	}
	return out
}

// search is the state of one query.
type search struct {
	config *Beam
	query  int
	beams  []beam // best first
	length int    // of the beams
	done   bool   // nothing better can come, or no beam is left
	kept   hypotheses
}

func newSearch(b *Beam, query int) *search {
	return &search{config: b, query: query, beams: []beam{{token: b.Start, node: docid.Root}},
		kept: hypotheses{width: b.Width, penalty: b.LengthPenalty, worst: 1e9}}
}

// advance makes the beams of the next step of the query's candidates, best first,
// whose rows count from origin (BeamSearchScorer.process).
func (q *search) advance(step int, candidates []Candidate, origin int) error {
	next := make([]beam, 0, q.config.Width)
	for rank, c := range candidates {
		if math.IsNaN(float64(c.Score)) {
			return ErrNaN
		}
		if len(next) == q.config.Width {
			break
		}
		row := c.Row - int32(origin)
		from := &q.beams[row]
		if c.Token == q.config.EOS {
			if rank < q.config.Width {
				q.kept.add(hypothesis{sum: c.Score, length: step, prefix: &prefix{from.prefix, c.Token}})
			}
			continue
		}
		b := beam{sum: c.Score, token: c.Token, parent: row, prefix: &prefix{from.prefix, c.Token}}
		if t := q.config.Trie; t != nil {
			b.node, _ = t.Step(from.node, c.Token)
		}
		next = append(next, b)
	}
	if len(candidates) == 0 {
		return ErrNaN
	}
	q.beams, q.length = next, step
	q.done = len(next) == 0 || q.kept.done(q.config, candidates[0].Score, step)
	return nil
}

// finish returns what was found, best first (BeamSearchScorer.finalize).
func (q *search) finish() []Hypothesis {
	if !q.done {
		for _, b := range q.beams {
			q.kept.add(hypothesis{sum: b.sum, length: q.length, prefix: b.prefix})
		}
	}
	return q.kept.best(q.config.Return)
}

// nodesOf are those of the beams, width rows a query; -1 of a row without a beam.
func nodesOf(active []*search, width int) []docid.Node {
	all := slices.Repeat([]docid.Node{-1}, len(active)*width)
	for i, q := range active {
		for r, b := range q.beams {
			all[i*width+r] = b.node
		}
	}
	return all
}

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
	first, second := -1, math.Inf(1) // the lowest score, and the one after it
	for i, h := range k.kept {
		switch {
		case first < 0:
			first = i
		case h.score < k.kept[first].score:
			first, second = i, k.kept[first].score
		default:
			second = min(second, h.score)
		}
	}
	k.kept = slices.Delete(k.kept, first, first+1)
	k.worst = second
}

// done says whether the search may end after a step, of which best is the highest
// candidate's log-probability.
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

// best returns the n best; of equal scores the one that came last is first.
func (k *hypotheses) best(n int) []Hypothesis {
	slices.SortStableFunc(k.kept, func(a, b hypothesis) int { return cmp.Compare(a.score, b.score) })
	slices.Reverse(k.kept)
	out := make([]Hypothesis, min(n, len(k.kept)))
	for i := range out {
		h := k.kept[i]
		out[i] = Hypothesis{Tokens: h.prefix.tokens(h.length), Score: h.score}
	}
	return out
}
