package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/corpora/docid"
)

// best keeps the n best candidates that it is offered, in a heap whose root is the worst of them.
type best struct {
	n    int
	heap []Candidate
}

func newBest(n int) *best { return &best{n: n, heap: make([]Candidate, 0, n)} }

// order ranks the better of two candidates first: by score, then row, then token.
func order(a, b Candidate) int {
	if a.Score != b.Score {
		return cmp.Compare(b.Score, a.Score)
	}
	return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Token, b.Token))
}

// worse says whether a ranks after b, soon where scores differ: it is asked of every token along a trie.
func worse(a, b Candidate) bool { return a.Score < b.Score || a.Score == b.Score && order(a, b) > 0 }

// floor is the score that a candidate must reach to matter; -Inf while there is room.
func (t *best) floor() float32 {
	if len(t.heap) < t.n {
		return float32(math.Inf(-1))
	}
	return t.heap[0].Score
}

// offer takes c if it is among the n best. Scores of -Inf never are.
func (t *best) offer(c Candidate) {
	if math.IsInf(float64(c.Score), -1) {
		return
	}
	h := t.heap
	if len(h) < t.n {
		h = append(h, c)
		i := len(h) - 1
		for i > 0 && worse(h[i], h[(i-1)/2]) {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
			i = (i - 1) / 2
		}
		t.heap = h
		return
	}
	if !worse(h[0], c) {
		return
	}
	h[0] = c
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && worse(h[child+1], h[child]) {
			child++
		}
		if !worse(h[child], h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// sorted returns the candidates, best first, and empties the heap.
func (t *best) sorted() []Candidate {
	slices.SortFunc(t.heap, order)
	out := t.heap
	t.heap = nil
	return out
}

// forced are Scores of one token that must follow, which no trie says: its log-probability is 0.
type forced struct {
	token   int32
	queries int
}

func (f forced) Top(sums []float32, n int, _ *docid.Trie, _ []docid.Node) ([][]Candidate, error) {
	out := make([][]Candidate, f.queries)
	width := len(sums) / f.queries
	for q := range out {
		top := newBest(n)
		for row := q * width; row < (q+1)*width; row++ {
			top.offer(Candidate{Row: int32(row), Token: f.token, Score: sums[row]})
		}
		out[q] = top.sorted()
	}
	return out, nil
}

// Table is Scores in memory: a token's log-probability is its logit less the row's norm.
type Table struct {
	Logits  []float32 // [rows, Vocab]
	Norms   []float32 // [rows]: log of the sum of the row's exponentials
	Vocab   int
	Queries int
	// Maxima is [rows, blocks], the maximum of each Block neighbouring logits of a row;
	// with it Top looks only at blocks that matter. Block 0: it looks at all.
	Maxima []float32
	Block  int
}

func (t *Table) check(rows int) error {
	if len(t.Norms) != rows || len(t.Logits) != rows*t.Vocab || t.Queries < 1 || rows%t.Queries != 0 {
		return fmt.Errorf("scores of %d logits and %d norms for %d rows of %d tokens and %d queries", len(t.Logits), len(t.Norms), rows, t.Vocab, t.Queries)
	}
	for _, n := range t.Norms {
		if n != n || math.IsInf(float64(n), 0) {
			return ErrNaN
		}
	}
	return nil
}

func (t *Table) Top(sums []float32, n int, trie *docid.Trie, nodes []docid.Node) ([][]Candidate, error) {
	if err := t.check(len(sums)); err != nil {
		return nil, err
	}
	width := len(sums) / t.Queries
	out := make([][]Candidate, t.Queries)
	for q := range out {
		top, floor := newBest(n), float32(0)
		if trie == nil {
			floor = t.floor(sums, q*width, (q+1)*width, n)
		}
		for row := q * width; row < (q+1)*width; row++ {
			if trie == nil && !math.IsInf(float64(sums[row]), -1) {
				t.scan(top, row, sums[row], floor)
			} else if trie != nil && nodes[row] >= 0 {
				tokens, _ := trie.Next(nodes[row])
				for _, id := range tokens {
					if int(id) >= t.Vocab {
						return nil, outside(id, int64(t.Vocab))
					}
					score := t.Logits[row*t.Vocab+int(id)] - t.Norms[row] + sums[row]
					top.offer(Candidate{Row: int32(row), Token: id, Score: score})
				}
			}
		}
		out[q] = top.sorted()
	}
	return out, nil
}

// floor is a score that the n best candidates of rows from … to-1 reach: the n-th best maximum of a block, if there are
// so many blocks.
func (t *Table) floor(sums []float32, from, to, n int) float32 {
	if t.Block == 0 {
		return float32(math.Inf(-1))
	}
	blocks := (t.Vocab + t.Block - 1) / t.Block
	top := newBest(n)
	for row := from; row < to; row++ {
		for _, m := range t.Maxima[row*blocks : (row+1)*blocks] {
			if s := m - t.Norms[row] + sums[row]; s > top.floor() {
				top.offer(Candidate{Row: int32(row), Score: s})
			}
		}
	}
	return top.floor()
}

// scan offers a row's tokens that reach floor.
func (t *Table) scan(top *best, row int, sum, floor float32) {
	block, norm := t.Block, t.Norms[row]
	if block == 0 {
		block = t.Vocab
	}
	blocks := (t.Vocab + block - 1) / block
	values := t.Logits[row*t.Vocab : (row+1)*t.Vocab]
	for b := range blocks {
		floor = max(floor, top.floor())
		// Rounding keeps order, so no token of the block has a higher score than this.
		if t.Block > 0 && t.Maxima[row*blocks+b]-norm+sum < floor {
			continue
		}
		for token := b * block; token < min((b+1)*block, t.Vocab); token++ {
			if s := values[token] - norm + sum; s >= floor {
				top.offer(Candidate{Row: int32(row), Token: int32(token), Score: s})
			}
		}
	}
}
