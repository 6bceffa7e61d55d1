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

// session is a model's decoder working on a batch of queries: a Stepper.
type session struct {
	searcher *Searcher
	memory   *kernel.Logits
	scope    *tensor.Scope // of the encoder's states and of the last step's
	cache    *seq2seq.Cache
	states   *tensor.Tensor // [rows, width], of the last step; not on a card
	last     *cardStep      // on a card
}

// start encodes queries, once for all their beams, for at most the given number of
// tokens each.
func start(x *Searcher, memory *kernel.Logits, queries [][]int32, most int) (c *session, err error) {
	c = &session{searcher: x, memory: memory, scope: tensor.NewScope()}
	err = tensor.Try(func() {
		c.cache = x.m.NewCache(x.m.Encode(c.scope, queries, x.steps), most)
	})
	if err != nil {
		c.scope.Close()
		return nil, err
	}
	return c, nil
}

func (c *session) close() {
	c.cache.Close()
	c.scope.Close()
}

// Step implements Stepper.
func (c *session) Step(ctx context.Context, queries []int, tokens, parents []int32) (Scores, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.searcher.card != nil {
		return c.stepCard(len(queries), tokens, parents)
	}
	err := tensor.Try(func() {
		c.reorder(parents)
		tensor.Free(c.states)
		c.states = c.cache.Step(c.scope, tokens)
	})
	if err != nil {
		return nil, err
	}
	return &logits{Searcher: c.searcher, states: c.states, queries: len(queries), memory: c.memory}, nil
}

// reorder tells the cache where its rows continue from.
func (c *session) reorder(parents []int32) {
	if parents == nil || identity(parents, c.cache.Rows()) {
		return
	}
	c.cache.Select(lists.Map(parents, func(p int32) int64 { return int64(p) }))
}

func identity(parents []int32, rows int) bool {
	for i, p := range parents {
		if int(p) != i {
			return false
		}
	}
	return len(parents) == rows
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

// fewestRows is the least number of rows computed together: with fewer, reading the output matrix takes longer than the
// products.
const fewestRows = 128

// each finds something for every query, in parts of queries of similar length, each with a cache of its own. If other
// rows of a product cannot change a row, each of a CPU's threads takes one part after another: threads in parts of
// their own do not wait for each other. If a card has no room for a part, that part and all later ones are halved,
// once, and the function that Warn was given hears of it.
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
	order, ready, out := byLength(queries), 0, make([]T, len(queries))
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
				if halved = true; x.say != nil {
					x.say(fmt.Sprintf("the GPU is out of memory with %d queries at a time; continuing with %d. Set batch to at most that", size, size/2))
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

func ceil(n, of int) int { return (n + of - 1) / of }

// byLength orders queries by length, so that the queries of a batch take about as long; equal ones stay in order.
func byLength(queries [][]int32) []int {
	order := lists.Places(len(queries))
	slices.SortStableFunc(order, func(a, b int) int { return len(queries[a]) - len(queries[b]) })
	return order
}
