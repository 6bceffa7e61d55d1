package decode

import (
	"math"
	"sync"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// card is what a Searcher or Ranker keeps on a card.
type card struct {
	scope *tensor.Scope
	head  *tensor.Tensor // rows of the output matrix for count tokens

	mu sync.Mutex
	// tries are on the card once: I32 [edges + the most of a node], the tokens of edges. A node's edges follow
	// one another, so the host names a row's node by its first edge and their number.
	tries map[*docid.Trie]*tensor.Tensor
}

func newCard(m *seq2seq.Model, first, count int64) (*card, error) {
	c := &card{scope: tensor.NewScope(), tries: map[*docid.Trie]*tensor.Tensor{}}
	if err := tensor.Try(func() { c.head = m.HeadRows(c.scope, first, count) }); err != nil {
		c.scope.Close()
		return nil, err
	}
	return c, nil
}

func (c *card) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scope.Close()
}

// cardStep is a step on a card, as its Scores. Nothing is computed before it is known
// what is asked of it, so that one transfer takes to the card all that a token needs, and
// one brings back what was found.
type cardStep struct {
	*session
	queries  int
	tokens   []int32
	computed bool
	scores   *tensor.Tensor // [rows, count] log-probabilities, once it is made
}

// stepCard is Step on a card.
func (c *session) stepCard(queries int, tokens, parents []int32) (Scores, error) {
	if c.last != nil && !c.last.computed { // its token was forced: nothing was asked of it
		if err := c.last.make(nil); err != nil {
			return nil, err
		}
	}
	err := tensor.Try(func() {
		c.reorder(parents)
		if c.last != nil {
			tensor.Free(c.last.scores)
		}
	})
	c.last = &cardStep{session: c, queries: queries, tokens: tokens}
	return c.last, err
}

// make makes the step if that is due and calls f, where there is one, with arrays on the
// card. What f reads of the card must be one tensor.
func (c *cardStep) make(f func(s *tensor.Scope, on []*tensor.Tensor), arrays ...[]int64) error {
	return tensor.Run(func(s *tensor.Scope) {
		tensor.NoGrad(func() {
			m, own := c.output.m, [][]int64(nil)
			if !c.computed {
				own = c.cache.Arrays(c.tokens)
			}
			on := s.Upload(m.Device, append(own, arrays...)...)
			if !c.computed {
				states := c.cache.StepOn(s, on[:len(own)])
				c.computed = true
				if f != nil {
					logits := m.LogitsOf(s, states, c.output.card.head)
					c.scores = c.scope.Move(s.LogSoftmax(logits, -1, tensor.F32))
					tensor.Free(logits)
				}
			}
			if f != nil {
				f(s, on[len(own):])
			}
		})
	})
}

// Top implements Scores.
func (c *cardStep) Top(sums []float32, n int) (out [][]Candidate, err error) {
	err = c.make(func(s *tensor.Scope, on []*tensor.Tensor) {
		out = cardBest{s, c.queries, n}.ofStep(c.scores, floats(s, on[0], len(sums)))
	}, packed(sums))
	return out, err
}

// packed are numbers as an array that is uploaded, two in each of its elements.
func packed(values []float32) []int64 {
	out := make([]int64, (len(values)+1)/2)
	for i, v := range values {
		out[i/2] |= int64(uint64(math.Float32bits(v)) << (32 * (i % 2)))
	}
	return out
}

// floats are the n numbers of an uploaded array that packed made.
func floats(s *tensor.Scope, t *tensor.Tensor, n int) *tensor.Tensor {
	return s.Narrow(s.Bits(t, tensor.F32), 0, 0, int64(n))
}
