//go:build !notorch

package decode

import (
	"context"

	"github.com/redsi/redsi/internal/decode/kernel"
)

// Sample draws hypotheses of queries, batch queries at a time, those of similar length
// together. A query is tokens with </s>, and keys name queries for the random numbers;
// o's Start, EOS and forced tokens are the model's. report, which may be nil, hears how
// many queries are done. Batches change scores by rounding only: in a draw that this
// tips, another token comes, and another end of the sample.
func (x *Searcher) Sample(ctx context.Context, queries [][]int32, keys []uint64, o Sampling, batch int, report func(done int)) ([][]Hypothesis, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	m := x.output.m
	v := m.Vocabulary()
	o.Start, o.EOS, o.ForcedBOS, o.ForcedEOS = int32(v.Start), int32(v.EOS), v.ForcedBOS, v.ForcedEOS
	out, memory := make([][]Hypothesis, len(queries)), &kernel.Logits{}
	err := batches(ctx, m, queries, batch, report, func(part []int, inputs [][]int32) error {
		c, err := start(x.output, memory, inputs, o.MaxTokens)
		if err != nil {
			return err
		}
		defer c.close()
		of := make([]uint64, len(part))
		for i, q := range part {
			of[i] = keys[q]
		}
		found, err := Sample(ctx, c, of, o)
		for i, h := range found {
			out[part[i]] = h
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
