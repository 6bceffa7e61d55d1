package decode

import (
	"math"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/tensor"
)

// trie is t on the card, where it is taken once.
func (c *card) trie(t *docid.Trie, o *output) (on *tensor.Tensor, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.tries[t]; have != nil {
		return have, nil
	}
	tokens := t.Tokens()
	for _, id := range tokens {
		if int64(id) >= o.count {
			return nil, outside(id, o.count)
		}
	}
	most := max(t.Widest())
	two := make([]int64, (len(tokens)+most+1)/2)
	for i, id := range tokens {
		two[i/2] |= int64(id) << (32 * (i % 2))
	}
	err = tensor.Try(func() {
		tensor.Within(func(s *tensor.Scope) {
			on = c.scope.Move(s.Bits(s.Upload(o.m.Device, two)[0], tensor.I32))
		})
	})
	if err != nil {
		return nil, err
	}
	c.tries[t] = on
	return on, nil
}

// Along implements Scores. Scores of what may follow are gathered into a matrix as wide as
// the widest of the rows' nodes: no wider than all scores.
func (c *cardStep) Along(t *docid.Trie, nodes []docid.Node, sums []float32, n int) (out [][]Candidate, err error) {
	trie, err := c.output.card.trie(t, c.output)
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
		column := s.Arange(most, c.output.m.Device)
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
	}, packed(sums), first, count)
	return out, err
}
