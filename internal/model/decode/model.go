package decode

import (
	"context"
	"fmt"
	"runtime"

	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// session is a model's decoder working on a batch of queries: a Stepper.
type session struct {
	output *output
	memory *kernel.Logits
	scope  *tensor.Scope // of the encoder's states and of the last step's
	cache  *seq2seq.Cache
	states *tensor.Tensor // [rows, width], of the last step; not on a card
	last   *cardStep      // on a card
}

// start encodes queries, once for all their beams, for at most the given number of
// tokens each.
func start(o *output, memory *kernel.Logits, queries [][]int32, most int) (c *session, err error) {
	c = &session{output: o, memory: memory, scope: tensor.NewScope()}
	err = tensor.Try(func() {
		c.cache = o.m.NewCache(o.m.Encode(c.scope, queries), most)
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
	if c.output.card != nil {
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
	return &logits{output: c.output, states: c.states, queries: len(queries), memory: c.memory}, nil
}

// reorder tells the cache where its rows continue from.
func (c *session) reorder(parents []int32) {
	if parents == nil || identity(parents, c.cache.Rows()) {
		return
	}
	order := make([]int64, len(parents))
	for i, p := range parents {
		order[i] = int64(p)
	}
	c.cache.Select(order)
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

// Searcher finds hypotheses with a model. Several goroutines may use it at once.
type Searcher struct{ *output }

// NewSearcher takes a copy of the model's output matrix, laid out for the
// processor: it must be made anew when the model's weights have changed.
func NewSearcher(m *seq2seq.Model) (*Searcher, error) {
	o, err := newOutput(m, 0, m.Vocabulary().Size)
	if err != nil {
		return nil, err
	}
	return &Searcher{o}, nil
}

// Search finds the hypotheses of queries, batch queries at a time, those of similar
// length together; 0: as many as a card has room for. A query is tokens with </s>; b's Start, EOS and forced tokens are the model's, and Overflows is set in F16.
// report, which may be nil, hears how many queries are done.
func (x *Searcher) Search(ctx context.Context, queries [][]int32, b Beam, batch int, report func(done int)) ([][]Hypothesis, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	v := x.output.m.Vocabulary()
	b.Start, b.EOS, b.ForcedBOS, b.ForcedEOS = int32(v.Start), int32(v.EOS), v.ForcedBOS, v.ForcedEOS
	b.Overflows = x.output.m.Compute == tensor.F16
	return each(ctx, x.output, queries, batch, Load{Beams: b.Width, Tokens: b.MaxTokens, Trie: b.Trie}, report, func(c *session, part []int) ([][]Hypothesis, error) {
		return Search(ctx, c, len(part), b)
	})
}

// each finds something for every query, those of similar length together, each part of them with a cache of its
// own. A part that a card has no room for is halved, as are those after it: once, of which o's say hears.
func each[T any](ctx context.Context, o *output, queries [][]int32, asked int, l Load, report func(done int), find func(c *session, part []int) ([]T, error)) ([]T, error) {
	// libtorch keeps a pool of threads per OS thread that calls it; pools wait busily for
	// a while after each operation, so that a second one takes the first one's time.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	size, err := o.batch(asked, queries, l)
	if err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, fmt.Errorf("batches of %d queries; at least 1 is needed", size)
	}
	if err := checkQueries(o.m, queries); err != nil {
		return nil, err
	}
	out, memory, order := make([]T, len(queries)), &kernel.Logits{}, byLength(queries)
	do := func(from int) error {
		part := order[from:min(from+size, len(order))]
		inputs := make([][]int32, len(part))
		for i, q := range part {
			inputs[i] = queries[q]
		}
		c, err := start(o, memory, inputs, l.Tokens)
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
	for from, halved := 0, false; from < len(order); from += size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := do(from)
		if size > 1 && !halved && full(err) {
			if halved = true; o.say != nil {
				o.say(fmt.Sprintf("the GPU is out of memory with %d queries at a time; continuing with %d. Set batch to at most that", size, size/2))
			}
			size /= 2
			err = do(from)
		}
		if err != nil {
			return nil, err
		}
		if report != nil {
			report(min(from+size, len(order)))
		}
	}
	return out, nil
}
