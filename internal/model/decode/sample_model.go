package decode

import (
	"context"
)

// Sample draws hypotheses of queries, batch queries at a time, those of similar length
// together; 0: as many as a card has room for. A query is tokens with </s>, and keys name queries for the random numbers;
// o's Start, EOS and forced tokens are the model's. report, which may be nil, hears how
// many queries are done. Batches change scores by rounding only: in a draw that this
// tips, another token comes, and another end of the sample.
func (x *Searcher) Sample(ctx context.Context, queries [][]int32, keys []uint64, o Sampling, batch int, report func(done int)) ([][]Hypothesis, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	v := x.output.m.Vocabulary()
	o.Start, o.EOS, o.ForcedBOS, o.ForcedEOS = int32(v.Start), int32(v.EOS), v.ForcedBOS, v.ForcedEOS
	l := Load{Beams: o.Samples, Tokens: o.MaxTokens, Sorted: o.TopK == 0}
	return each(ctx, x.output, queries, batch, l, report, func(c *session, part []int) ([][]Hypothesis, error) {
		of := make([]uint64, len(part))
		for i, q := range part {
			of[i] = keys[q]
		}
		return Sample(ctx, c, of, o)
	})
}
