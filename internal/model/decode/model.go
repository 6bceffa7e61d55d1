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

// Search finds the hypotheses of queries, batch queries at a time, those of similar
// length together; 0: as many as a card has room for. A query is tokens with </s>; b's Start, EOS and forced tokens are the model's, and Overflows is set in F16.
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

// Sample draws hypotheses of queries, batch queries at a time, those of similar length
// together; 0: as many as a card has room for. A query is tokens with </s>, and keys name queries for the random numbers;
// o's Start, EOS and forced tokens are the model's. report, which may be nil, hears how
// many queries are done. Batches change scores by rounding only: in a draw that this
// tips, another token comes, and another end of the sample.
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

// fewestRows are computed together at least: with fewer, reading the output matrix takes longer than the products.
const fewestRows = 128

// each finds something for every query, those of similar length together, each part of them with a cache of its
// own. Where a row of a product is the same whatever is beside it, each of a CPU's threads takes one part after another: in
// a part of its own none waits for another. A part that a card has no room for is halved, as are those after it: once, of
// which Warn's say hears.
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
	p := &parts{order: byLength(queries), size: size}
	out := make([]T, len(queries))
	do := func(part []int, memory *kernel.Logits) error {
		c, err := start(x, memory, lists.Map(part, func(q int) []int32 { return queries[q] }), l.Tokens)
		if err != nil {
			return fmt.Errorf("queries %v: %w", part, err)
		}
		defer c.close()
		found, err := find(c, part)
		if err != nil {
			return fmt.Errorf("queries %v: %w", part, err)
		}
		for i, of := range found {
			out[part[i]] = of
		}
		return nil
	}
	// libtorch keeps a pool of threads per OS thread that calls it; pools wait busily for
	// a while after each operation, so that a second one takes the first one's time.
	err = tensor.Share(workers, func() error {
		memory, ok := x.memory.Get().(*kernel.Logits)
		if !ok {
			memory = new(kernel.Logits)
		}
		defer x.memory.Put(memory)
		for halved := false; ; {
			part := p.next()
			if len(part) == 0 {
				return nil
			}
			err := ctx.Err()
			if err == nil {
				err = do(part, memory)
			}
			if len(part) > 1 && !halved && full(err) { // there is one worker
				if halved = true; x.say != nil {
					x.say(fmt.Sprintf("the GPU is out of memory with %d queries at a time; continuing with %d. Set batch to at most that", p.size, p.size/2))
				}
				p.halve(part)
				continue
			}
			if err != nil {
				p.stop()
				return err
			}
			p.done(part, report)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func ceil(n, of int) int { return (n + of - 1) / of }

// byLength orders queries by length, so that those of a batch take about as long;
// equal ones stay in order.
func byLength(queries [][]int32) []int {
	order := lists.Places(len(queries))
	slices.SortStableFunc(order, func(a, b int) int { return len(queries[a]) - len(queries[b]) })
	return order
}

// parts are the queries that are left, and how many are decoded together.
type parts struct {
	mu    sync.Mutex
	order []int
	size  int
	ready int
}

// next takes the next ones; none are left where it is empty.
func (p *parts) next() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(p.size, len(p.order))
	part := p.order[:n:n]
	p.order = p.order[n:]
	return part
}

// halve puts a part back that was too large.
func (p *parts) halve(part []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order, p.size = slices.Concat(part, p.order), p.size/2
}

// stop leaves nothing for next.
func (p *parts) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = nil
}

// done tells report, which may be nil, how many queries are ready.
func (p *parts) done(part []int, report func(done int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready += len(part); report != nil {
		report(p.ready)
	}
}
