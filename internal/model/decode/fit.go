package decode

import (
	"errors"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// Load is what the memory of a query's decoding grows with.
type Load struct {
	Beams  int         // or samples; 1 for atomic identifiers
	Tokens int         // that are generated at most
	Input  int         // tokens of the query
	Scored int64       // tokens whose scores are computed; 0: the vocabulary
	Trie   *docid.Trie // or nil
	Sorted bool        // all scores are sorted: sampling without top_k
}

// unknownBatch is how many queries a card decodes together if its free memory cannot be read.
const unknownBatch = 32

// mostBatch bounds the queries of a batch: a card gains nothing by more, and progress is reported between batches.
const mostBatch = 512

// Fit is how many queries, at least one, can be decoded together in so many bytes of a card. A fifth of them stays
// free.
func Fit(free int64, m *seq2seq.Model, l Load) int {
	return int(min(max(free/5*4/PerQuery(m, l), 1), mostBatch))
}

// PerQuery is about how many bytes of a card decoding a query takes at its most: scores
// of all tokens for each of its beams, the keys and values that are kept of them, twice
// while beams change places, and of its input, and the states of a layer.
func PerQuery(m *seq2seq.Model, l Load) int64 {
	const f32 = 4
	rows, steps, input, scored := int64(l.Beams), int64(l.Tokens), int64(l.Input), l.Scored
	if scored == 0 {
		scored = m.Vocabulary().Size
	}
	d := m.Dimensions()
	size := int64(m.Compute.Size())

	scores := rows * scored * 2 * f32 // while they are normalized
	n := max(2*rows, 128)
	block := blockSize(rows*scored, n)
	found := rows*scored*2*f32 + (rows*scored/block+n*block)*40 // by cardBest: values and indexes of what is sorted
	if l.Sorted {
		found = rows * scored * 72
	}
	if l.Trie != nil {
		root, widest := l.Trie.Widest()
		found = max(found, rows*scored*f32+32*max(int64(root), rows*int64(widest)))
	}
	kept := 2 * d.Layers * steps * rows * d.Keys * size
	cross := 2 * d.Layers * input * d.Keys * size
	state := (8*d.Widest + 4*d.Heads*max(steps, input)) * f32
	return max(scores, found) + 2*kept + 2*cross + max(rows, input)*state
}

// batch is how many queries are decoded together: asked, or, if that is 0, what fits on the card.
func (x *Searcher) batch(asked int, queries [][]int32, l Load) (n int, err error) {
	if asked != 0 || x.card == nil {
		return asked, nil
	}
	free, _, ok := tensor.CardFree(x.m.Device)
	if !ok {
		return unknownBatch, nil
	}
	l.Scored = x.count
	for _, q := range queries {
		l.Input = max(l.Input, len(q))
	}
	err = tensor.Try(func() { n = Fit(free, x.m, l) })
	return n, err
}

// full says whether a card had no room for what was computed.
func full(err error) bool {
	e, ok := errors.AsType[*tensor.Error](err)
	return ok && e.Fault() == tensor.OutOfMemory
}
