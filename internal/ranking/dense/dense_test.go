package dense

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/ranking/topk"
	"github.com/redsi/redsi/internal/system/testkit"
)

// reading reads a matrix.
func reading(rows []float32) func(to []float32) error {
	return func(to []float32) error {
		rows = rows[copy(to, rows):]
		return nil
	}
}

func find(t *testing.T, documents, queries npy.Matrix, o Options) [][]topk.Hit {
	t.Helper()
	return testkit.Value(Search(context.Background(), reading(documents.Data), documents.Rows, queries, o))(t)
}

// TestNumpy: rankings are numpy's (tools/golden/dense.py), ties by number.
func TestNumpy(t *testing.T) {
	documents, queries := goldens.Read(t, "testdata/documents.npy", npy.Read), goldens.Read(t, "testdata/queries.npy", npy.Read)
	var golden map[string]struct {
		Order [][]int32
		Score [][]float64
	}
	goldens.JSON(t, "testdata/golden.json", &golden)
	for _, depth := range []int{1, 10, 301, 1000} {
		for q, hits := range find(t, documents, queries, Options{Depth: depth}) {
			want := golden["product"].Order[q]
			for i, d := range want[:min(depth, len(want))] {
				if hits[i] != (topk.Hit{Doc: d, Score: golden["product"].Score[q][d]}) {
					t.Fatalf("query %d, rank %d: %v, want document %d", q, i+1, hits[i], d)
				}
			}
			testkit.Is(t, len(hits), min(depth, documents.Rows), "hits")
		}
	}
	for q, hits := range find(t, documents, queries, Options{Depth: 301, Cosine: true}) {
		if len(hits) != 301 {
			t.Fatalf("%d hits", len(hits))
		}
		for i, h := range hits {
			if math.Abs(h.Score-golden["cosine"].Score[q][h.Doc]) > 1e-11 {
				t.Fatalf("query %d: cosine %v, want %v", q, h, golden["cosine"].Score[q][h.Doc])
			}
			if i > 0 && (h.Score > hits[i-1].Score || h.Score == hits[i-1].Score && h.Doc < hits[i-1].Doc) {
				t.Fatalf("query %d: %v after %v", q, h, hits[i-1])
			}
		}
	}
}

// TestBlocks: what is found in several blocks, by several threads, is what one product after
// another finds.
func TestBlocks(t *testing.T) {
	documents, queries := drawnBy(number["normal"], 5, 2*block+33, 12), drawnBy(number["normal"], 6, 23, 12)
	got := find(t, documents, queries, Options{Depth: 50})
	for q := range queries.Rows {
		var best topk.Best
		best.Reset(50)
		for d := range documents.Rows {
			sum := 0.0
			for i, v := range documents.Row(d) {
				sum += float64(v) * float64(queries.Row(q)[i])
			}
			best.Offer(topk.Hit{Doc: int32(d), Score: sum})
		}
		same := slices.EqualFunc(got[q], best.List(), func(a, b topk.Hit) bool { return a.Doc == b.Doc && math.Abs(a.Score-b.Score) < 1e-5 })
		if !same {
			t.Fatalf("query %d: %v\nwant %v", q, got[q], best.List())
		}
	}
}

func TestNotFinite(t *testing.T) {
	one := npy.Matrix{Rows: 2, Cols: 2, Data: []float32{1, 2, 3, 4}}
	bad := npy.Matrix{Rows: 2, Cols: 2, Data: []float32{1, 2, 3, float32(math.NaN())}}
	for want, of := range map[string][2]npy.Matrix{"document vectors: row 1: column 1": {bad, one}, "query vectors: row 1": {one, bad}} {
		testkit.ErrSays(t, testkit.Err(Search(context.Background(), reading(of[0].Data), 2, of[1], Options{Depth: 1})), want)
	}
}
