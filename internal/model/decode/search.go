package decode

import (
	"errors"
	"math"

	"github.com/redsi/redsi/internal/corpora/docid"
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
	before *prefix // nil: only the start token
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

// advance takes the query's candidates, best first, whose rows count from origin, as the beams of the next step
// (BeamSearchScorer.process).
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
