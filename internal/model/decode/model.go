package decode

import (
	"context"

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

// start encodes queries, once for all their beams, for at most the given number of tokens each.
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
