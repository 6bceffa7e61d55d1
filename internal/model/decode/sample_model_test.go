package decode

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSampleModel: samples of T5 and BART are the same in any batch, and their scores are
// what the model says of them, teacher forced.
func TestSampleModel(t *testing.T) {
	g := readT5Golden(t)
	for _, folder := range []string{"../t5/testdata/v1_0", "../bart/testdata/plain"} {
		m := load(t, folder)
		x := testkit.Value(NewSearcher(m))(t)
		keys := make([]uint64, len(g.Queries))
		for i := range keys {
			keys[i] = uint64(i)
		}
		o := Sampling{Samples: 4, MaxTokens: 6, TopK: 10, TopP: 0.95, Temperature: 0.8, Seed: 3}
		var first [][]Hypothesis
		for _, batch := range []int{1, 2, 64} {
			done := 0
			got, err := x.Sample(context.Background(), g.Queries, keys, o, batch, func(n int) { done = n })
			if err != nil || done != len(g.Queries) {
				t.Fatalf("%s: %d queries are done, %v", folder, done, err)
			}
			for q := range got {
				for n, h := range got[q] {
					if first != nil && !slices.Equal(h.Tokens, first[q][n].Tokens) {
						t.Errorf("%s, batch %d: query %d, sample %d is %v, not %v", folder, batch, q, n, h.Tokens, first[q][n].Tokens)
					}
					if v := m.Vocabulary(); v.ForcedEOS != nil || v.ForcedBOS != nil {
						continue
					}
					loss := testkit.Value(m.Loss(seq2seq.Batch{Inputs: g.Queries[q : q+1], Labels: [][]int32{h.Tokens}}))(t)
					if want := -loss * float64(len(h.Tokens)); math.Abs(h.Score-want) > 1e-4 {
						t.Errorf("%s: query %d, sample %d: score %.6f, want %.6f", folder, q, n, h.Score, want)
					}
				}
			}
			first = got
		}
	}
}
