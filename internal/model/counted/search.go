package counted

import (
	"context"
	"errors"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
)

// Beams is the paper's width, Queries how many are asked together, and Documents those of
// the paper's collection.
const (
	Beams     = 40
	Queries   = 8
	Documents = 109_739
)

// asked are queries with as many tokens as those of Natural Questions mostly have.
func asked(n int) [][]int32 {
	draw := drawn.Numbers(7)
	return draw.Sequences(n, 8, 16)
}

func asks(queries [][]int32) roofline.Batch {
	b := roofline.Batch{Examples: float64(len(queries))}
	for _, q := range queries {
		b.InputTokens, b.LongestInput = b.InputTokens+float64(len(q)), max(b.LongestInput, float64(len(q)))
	}
	return b
}

// Search counts a search without and along a trie, and a ranking of documents that are a
// token each: what begins it, and what each token takes, which is the difference of searches
// of two and four.
func Search(of, precision string) ([]roofline.Counted, error) {
	defer tensor.EmulateShapes()()
	m, err := seq2seq.Init(Config(Sizes()[of]), 1, tensor.CUDA(0))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	m.Compute = types[precision]
	searcher, err := decode.NewSearcher(m)
	if err != nil {
		return nil, err
	}
	queries := asked(Queries)
	var out []roofline.Counted
	counted := func(operation string, f func() error) (roofline.Counted, error) {
		c := roofline.Counted{Operation: operation, Of: of, Model: Sizes()[of], Precision: precision, Batch: asks(queries), Name: "queries", Beams: Beams}
		var failed error
		err := count(&c, func() { failed = f() })
		return c, errors.Join(err, failed)
	}
	for _, along := range []bool{false, true} {
		operation, each := roofline.OpStart, roofline.OpStep
		if along {
			operation, each = "", roofline.OpTrie
		}
		var two, four roofline.Counted
		for i, into := range []*roofline.Counted{&two, &four} {
			tokens := 2 + 2*i
			b := decode.NewBeam(tokens, nil)
			b.EarlyStopping = stopping.Never
			if along {
				if b.Trie, err = docid.NewTrie(identifiers(tokens)); err != nil {
					return nil, err
				}
			}
			if *into, err = counted(each, func() error {
				_, err := searcher.Search(context.Background(), queries, b, Queries, nil)
				return err
			}); err != nil {
				return nil, err
			}
		}
		start, token := two, half(four, two)
		subtract(&start, token, 2)
		if start.Operation = operation; operation != "" {
			start.Operators, start.Beams = nil, 0
			out = append(out, start)
		}
		token.Operators = four.Operators
		out = append(out, token)
	}
	return out, nil
}

// identifiers are sequences of so many tokens with their end.
func identifiers(tokens int) [][]int32 {
	var all [][]int32
	for i := range int32(2000) {
		id := []int32{}
		for n := i; len(id) < tokens-2; n /= 13 {
			id = append(id, 100+n%13)
		}
		id = append(id, 200+i) // tells them apart
		all = append(all, append(id, 1))
	}
	return all
}

// half is what each of two more tokens takes.
func half(more, less roofline.Counted) roofline.Counted {
	c := more
	c.Launches, c.Flops, c.Bytes = (more.Launches-less.Launches)/2, (more.Flops-less.Flops)/2, (more.Bytes-less.Bytes)/2
	c.Uploads, c.Up, c.Downloads, c.Down = (more.Uploads-less.Uploads)/2, max(0, more.Up-less.Up)/2, (more.Downloads-less.Downloads)/2, max(0, more.Down-less.Down)/2
	c.Syncs = map[string]int64{}
	for name, n := range more.Syncs {
		if d := (n - less.Syncs[name]) / 2; d > 0 {
			c.Syncs[name] = d
		}
	}
	return c
}

// subtract takes n tokens off. Their first has fewer rows, so that what it is less stays.
func subtract(c *roofline.Counted, token roofline.Counted, n int64) {
	less := func(a *int64, b int64) { *a = max(0, *a-n*b) }
	less(&c.Launches, token.Launches)
	less(&c.Flops, token.Flops)
	less(&c.Bytes, token.Bytes)
	less(&c.Uploads, token.Uploads)
	less(&c.Up, token.Up)
	less(&c.Downloads, token.Downloads)
	less(&c.Down, token.Down)
	c.Syncs = nil
}

// Rank counts a batch of queries whose documents are a token each.
func Rank(of, precision string) (c roofline.Counted, err error) {
	sizes := Sizes()[of].Extended(Documents)
	queries := asked(64)
	c = roofline.Counted{Operation: roofline.OpRank, Of: of, Model: sizes, Precision: precision, Batch: asks(queries), Name: "queries", Beams: Beams}
	defer tensor.EmulateShapes()()
	m, err := seq2seq.Init(Config(sizes), 1, tensor.CUDA(0))
	if err != nil {
		return c, err
	}
	defer m.Close()
	m.Compute = types[precision]
	ranker, err := decode.NewRanker(m, sizes.Vocabulary-Documents, Documents)
	if err != nil {
		return c, err
	}
	var failed error
	err = count(&c, func() { _, failed = ranker.Rank(context.Background(), queries, Beams, len(queries), nil) })
	return c, errors.Join(err, failed)
}
