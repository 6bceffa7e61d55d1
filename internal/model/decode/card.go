package decode

import (
	"math"
	"sync"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// card is what a Searcher keeps on a card.
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

// cardStep is a step on a card, as its Scores. It computes nothing before something is asked of it, so that one
// transfer takes everything to the card that a token needs, and one brings back what was found.
type cardStep struct {
	*session
	queries  int
	tokens   []int32
	computed bool
	scores   *tensor.Tensor // [rows, count] log-probabilities, once computed
}

func (c *session) stepCard(queries int, tokens, parents []int32) (Scores, error) {
	if c.last != nil && !c.last.computed { // its token was forced, and its scores were not read
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

// make computes the step if that is due and calls f, if it is not nil, with arrays on the card. f must read only one
// tensor of the card.
func (c *cardStep) make(f func(s *tensor.Scope, on []*tensor.Tensor), arrays ...[]int64) error {
	return tensor.Run(func(s *tensor.Scope) {
		tensor.NoGrad(func() {
			m, own := c.searcher.m, [][]int64(nil)
			if !c.computed {
				own = c.cache.Arrays(c.tokens)
			}
			on := s.Upload(m.Device, append(own, arrays...)...)
			if !c.computed {
				states := c.cache.StepOn(s, on[:len(own)])
				c.computed = true
				if f != nil {
					logits := m.LogitsOf(s, states, c.searcher.card.head)
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

func (c *cardStep) Top(sums []float32, n int, trie *docid.Trie, nodes []docid.Node) (out [][]Candidate, err error) {
	if trie != nil {
		return c.along(trie, nodes, sums, n)
	}
	err = c.make(func(s *tensor.Scope, on []*tensor.Tensor) {
		found := cardBest{s, c.queries, n}.of(c.scores, floats(s, on[0], len(sums)))
		width := len(sums) / c.queries
		out = found.candidates(n, func(query int, at int64) (row, token int64) {
			return int64(query*width) + at/found.columns, at % found.columns
		})
	}, packed(sums, 0, math.Float32bits))
	return out, err
}

// packed are numbers, and so many zeros after them, as an array that is uploaded, two in each of its elements.
func packed[T any](values []T, zeros int, bits func(T) uint32) []int64 {
	out := make([]int64, (len(values)+zeros+1)/2)
	for i, v := range values {
		out[i/2] |= int64(uint64(bits(v)) << (32 * (i % 2)))
	}
	return out
}

// floats are the n numbers of an uploaded array of packed.
func floats(s *tensor.Scope, t *tensor.Tensor, n int) *tensor.Tensor {
	return s.Narrow(s.Bits(t, tensor.F32), 0, 0, int64(n))
}

// trie is t on the card, where it is taken once.
func (c *card) trie(t *docid.Trie, x *Searcher) (on *tensor.Tensor, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.tries[t]; have != nil {
		return have, nil
	}
	tokens := t.Tokens()
	for _, id := range tokens {
		if int64(id) >= x.count {
			return nil, outside(id, x.count)
		}
	}
	two := packed(tokens, max(t.Widest()), func(id int32) uint32 { return uint32(id) })
	err = tensor.Try(func() {
		tensor.Within(func(s *tensor.Scope) {
			on = c.scope.Move(s.Bits(s.Upload(x.m.Device, two)[0], tensor.I32))
		})
	})
	if err != nil {
		return nil, err
	}
	c.tries[t] = on
	return on, nil
}

// along is Top along a trie. Scores of what may follow are gathered into a matrix as wide as
// the widest of the rows' nodes: no wider than all scores.
func (c *cardStep) along(t *docid.Trie, nodes []docid.Node, sums []float32, n int) (out [][]Candidate, err error) {
	trie, err := c.searcher.card.trie(t, c.searcher)
	if err != nil {
		return nil, err
	}
	first, count, most := make([]int64, len(nodes)), make([]int64, len(nodes)), int64(1)
	for i, node := range nodes {
		if node < 0 {
			continue
		}
		next, _ := t.Next(node)
		first[i], count[i] = int64(t.FirstChild(node))-1, int64(len(next))
		most = max(most, count[i])
	}
	width, rows := int64(len(nodes)/c.queries), int64(len(nodes))
	err = c.make(func(s *tensor.Scope, on []*tensor.Tensor) {
		column := s.Arange(most, c.searcher.m.Device)
		edges := s.Add(s.View(on[1], rows, 1), column) // [rows, most]
		tokens := s.ToDType(s.IndexSelect(trie, 0, s.View(edges, -1)), tensor.I64)
		scores := s.Gather(c.scores, 1, s.View(tokens, rows, most))
		none := s.LessEqual(s.View(on[2], rows, 1), column)
		scores = s.MaskedFill(scores, none, math.Inf(-1))
		found := cardBest{s, c.queries, n}.of(scores, floats(s, on[0], len(sums)))
		out = found.candidates(n, func(query int, at int64) (row, token int64) {
			row = int64(query)*width + at/found.columns
			if at %= found.columns; nodes[row] < 0 || at >= count[row] {
				return row, -1 // its score is -Inf
			}
			next, _ := t.Next(nodes[row])
			return row, int64(next[at])
		})
	}, packed(sums, 0, math.Float32bits), first, count)
	return out, err
}
