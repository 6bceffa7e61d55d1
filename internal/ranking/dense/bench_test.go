package dense

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/testkit"
)

// BenchmarkSearch compares 1,000 queries with 20,000 documents of 384 numbers: 7.7 thousand
// million products.
func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	rows := make([]float32, 1<<20)
	for i := range rows {
		rows[i] = float32(r.NormFloat64())
	}
	queries := npy.Matrix{Rows: 1000, Cols: 384, Data: rows[:1000*384]}
	endless := func(to []float32) error {
		for len(to) > 0 {
			to = to[copy(to, rows):]
		}
		return nil
	}
	for b.Loop() {
		testkit.None(b, testkit.Err(Search(context.Background(), endless, 20_000, queries, Options{Depth: 100})))
	}
}
