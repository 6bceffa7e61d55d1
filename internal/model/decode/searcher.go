package decode

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// Searcher decodes with a model: it has a part of the model's output matrix, and the memory that tokens are scored
// in. Scores are float32 whatever the model computes in: in half precision, with 8 or 11 bits, the scores of many
// tokens are equal. Several goroutines may use it at once.
type Searcher struct {
	Warn func(string) // hears a sentence when a card has no room for a batch; may be nil

	m     *seq2seq.Model
	card  *card        // nil on a CPU
	count int64        // rows of the output matrix, of tokens that follow one another
	width int          // of its rows
	head  *kernel.Head // nil: on a card
	steps *seq2seq.Packed

	memory sync.Pool // of *kernel.Logits that nobody uses
}

// NewSearcher is for Search and Sample, which write any token.
func NewSearcher(m *seq2seq.Model) (*Searcher, error) { return NewRanker(m, 0, m.Vocabulary().Size) }

// NewRanker is for Rank by atomic identifiers: document i is the token first+i of the model's extended vocabulary.
// The rows of the output matrix are copied, on a CPU laid out for the processor: a change of the model's weights
// needs a new Searcher.
func NewRanker(m *seq2seq.Model, first, documents int64) (*Searcher, error) {
	if documents < 1 || first < 0 || first+documents > m.Vocabulary().Size {
		return nil, fmt.Errorf("atomic identifiers: tokens %d to %d for %d documents; the model's vocabulary has %d: was it extended for this collection?",
			first, first+documents-1, documents, m.Vocabulary().Size)
	}
	x := &Searcher{m: m, steps: m.Pack(), count: documents}
	var err error
	if m.Device.IsCUDA() {
		x.card, err = newCard(m, first, documents)
	} else {
		err = tensor.Do(func(s *tensor.Scope) error {
			weights := s.Contiguous(m.HeadRows(s, first, documents)).Shared()
			x.width = len(weights) / int(documents)
			if m.Int8() {
				x.head, err = kernel.PackInt8(weights, int(documents), x.width)
			} else {
				x.head, err = kernel.Pack(weights, int(documents), x.width, m.HalfScores && m.Compute == tensor.BF16)
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Close frees what is kept beside the model; no search may be running.
func (x *Searcher) Close() {
	x.steps.Close()
	if x.card != nil {
		x.card.scope.Close()
	}
}

// Search finds the hypotheses of queries, batch queries at a time, of similar length together; 0: as many as a card has
// room for. A query is tokens with </s>; b's Start, EOS and forced tokens are the model's, and Overflows is set in F16.
// report, which may be nil, hears how many queries are done.
func (x *Searcher) Search(ctx context.Context, queries [][]int32, b Beam, batch int, report func(done int)) ([][]Hypothesis, error) {
	v := x.m.Vocabulary()
	b.Start, b.EOS, b.ForcedBOS, b.ForcedEOS = int32(v.Start), int32(v.EOS), v.ForcedBOS, v.ForcedEOS
	if err := b.Check(); err != nil {
		return nil, err
	}
	b.Overflows = x.m.Compute == tensor.F16
	return each(ctx, x, queries, batch, Load{Beams: b.Width, Tokens: b.MaxTokens, Trie: b.Trie}, report, func(c *session, part []int) ([][]Hypothesis, error) {
		return Search(ctx, c, len(part), b)
	})
}

// Sample draws hypotheses of queries, batch queries at a time, of similar length together; 0: as many as a card has
// room for. A query is tokens with </s>, and keys name queries for the random numbers; o's Start, EOS and forced tokens
// are the model's. report, which may be nil, hears how many queries are done. Batches change scores by rounding only:
// if that tips a draw, another token follows, and another end of the sample.
func (x *Searcher) Sample(ctx context.Context, queries [][]int32, keys []uint64, o Sampling, batch int, report func(done int)) ([][]Hypothesis, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	v := x.m.Vocabulary()
	o.Start, o.EOS, o.ForcedBOS, o.ForcedEOS = int32(v.Start), int32(v.EOS), v.ForcedBOS, v.ForcedEOS
	l := Load{Beams: o.Samples, Tokens: o.MaxTokens, Sorted: o.TopK == 0}
	return each(ctx, x, queries, batch, l, report, func(c *session, part []int) ([][]Hypothesis, error) {
		return Sample(ctx, c, lists.Map(part, func(q int) uint64 { return keys[q] }), o)
	})
}

// Rank returns the k best documents of each query by the first decoder step's scores (paper, "Retrieval"), batch
// queries at a time; 0: as many as a card has room for. Only the documents' rows of the output matrix are computed, so
// a score is log p(document | query) among documents; scores over the whole vocabulary have the same order. Ties: the
// lower document first. In F16 a query whose scores are not numbers has no ranking; in other types such scores are ErrNaN.
// report, which may be nil, hears how many queries are done.
func (x *Searcher) Rank(ctx context.Context, queries [][]int32, k, batch int, report func(done int)) ([]Result, error) {
	if k < 1 {
		return nil, fmt.Errorf("atomic identifiers: the %d best documents; at least 1 is needed", k)
	}
	k = int(min(int64(k), x.count))
	return each(ctx, x, queries, batch, Load{Beams: 1, Tokens: 1}, report, func(c *session, part []int) ([]Result, error) {
		scores, err := c.Step(ctx, part, slices.Repeat([]int32{int32(x.m.Vocabulary().Start)}, len(part)), nil)
		if err != nil {
			return nil, err
		}
		best, err := scores.Top(make([]float32, len(part)), k, nil, nil)
		if err != nil {
			return nil, err
		}
		out := make([]Result, len(part))
		for i, candidates := range best {
			if len(candidates) == 0 && x.m.Compute != tensor.F16 {
				return nil, ErrNaN
			}
			for _, d := range candidates {
				out[i].Ranking = append(out[i].Ranking, Ranked{Document: int(d.Token), Score: float64(d.Score)})
			}
		}
		return out, nil
	})
}

// fewestRows is the least number of rows computed together: with fewer, reading the output matrix takes longer than the
// products.
const fewestRows = 128

// each finds something for every query, in parts of queries of similar length, each with a cache of its own. If other
// rows of a product cannot change a row, each of a CPU's threads takes one part after another: threads in parts of
// their own do not wait for each other. If a card has no room for a part, that part and all later ones are halved,
// once, and Warn hears of it.
func each[T any](ctx context.Context, x *Searcher, queries [][]int32, asked int, l Load, report func(done int), find func(c *session, part []int) ([]T, error)) ([]T, error) {
	size, err := x.batch(asked, queries, l)
	if err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, fmt.Errorf("batches of %d queries; at least 1 is needed", size)
	}
	if err := checkQueries(x.m, queries); err != nil {
		return nil, err
	}
	workers := 1
	if x.card == nil && tensor.SameForAnyRows() {
		threads := tensor.NumThreads()
		size = min(size, max(ceil(len(queries), threads), ceil(fewestRows, l.Beams)))
		workers = min(threads, ceil(len(queries), size))
	}
	var mu sync.Mutex // guards what follows
	order, ready, out := lists.Places(len(queries)), 0, make([]T, len(queries))
	slices.SortStableFunc(order, func(a, b int) int { return len(queries[a]) - len(queries[b]) })
	next := func() (part []int) {
		mu.Lock()
		defer mu.Unlock()
		n := min(size, len(order))
		part, order = order[:n:n], order[n:]
		return part
	}
	do := func(part []int, memory *kernel.Logits) (found []T, err error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := start(x, memory, lists.Map(part, func(q int) []int32 { return queries[q] }), l.Tokens)
		if err == nil {
			defer c.close()
			found, err = find(c, part)
		}
		if err != nil {
			return nil, fmt.Errorf("queries %v: %w", part, err)
		}
		return found, nil
	}
	// libtorch keeps a pool of threads per OS thread that calls it; pools spin for a while after each operation, so
	// that a second pool takes the first one's time.
	err = tensor.Share(workers, func() error {
		memory, ok := x.memory.Get().(*kernel.Logits)
		if !ok {
			memory = new(kernel.Logits)
		}
		defer x.memory.Put(memory)
		halved := false
		for part := next(); len(part) > 0; part = next() {
			found, err := do(part, memory)
			mu.Lock()
			switch {
			case err == nil:
				for i, of := range found {
					out[part[i]] = of
				}
				if ready += len(part); report != nil {
					report(ready)
				}
			case len(part) > 1 && !halved && full(err): // there is one worker
				if halved = true; x.Warn != nil {
					x.Warn(fmt.Sprintf("the GPU is out of memory with %d queries at a time; continuing with %d. Set batch to at most that", size, size/2))
				}
				order, size, err = slices.Concat(part, order), size/2, nil
			default:
				order = nil
			}
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkQueries says which query the model cannot read.
func checkQueries(m *seq2seq.Model, queries [][]int32) error {
	for i, q := range queries {
		if len(q) == 0 {
			return fmt.Errorf("query %d has no tokens", i)
		}
		for _, t := range q {
			if t < 0 || int64(t) >= m.Vocabulary().Size {
				return fmt.Errorf("query %d has token %d; the model's vocabulary has %d", i, t, m.Vocabulary().Size)
			}
		}
	}
	return nil
}

func ceil(n, of int) int { return (n + of - 1) / of }
