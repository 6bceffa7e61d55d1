//go:build linux

package decode

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestMain(m *testing.M) { fakecard.Main(m) }

// onCard calls f with a model on a card.
func onCard(t testing.TB, folder string, f func(m *seq2seq.Model)) {
	t.Helper()
	m := testkit.Value(models.Load(folder, tensor.CUDA(0)))(t)
	defer m.Close()
	f(m)
}

// sameHypotheses compares what a card found with what the CPU did.
func sameHypotheses(t *testing.T, name string, got, want [][]Hypothesis) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d queries, want %d", name, len(got), len(want))
	}
	for q := range want {
		if len(got[q]) != len(want[q]) {
			t.Errorf("%s, query %d: %d hypotheses, want %d", name, q, len(got[q]), len(want[q]))
			continue
		}
		for i, w := range want[q] {
			if h := got[q][i]; !slices.Equal(h.Tokens, w.Tokens) || math.Abs(h.Score-w.Score) > 1e-5*max(1, math.Abs(w.Score)) {
				t.Errorf("%s, query %d, rank %d: %v %.7f, want %v %.7f", name, q, i+1, h.Tokens, h.Score, w.Tokens, w.Score)
			}
		}
	}
}

// TestSearchersTogether: goroutines that share a searcher on a card, and a trie that none
// of them has used before, find what one alone finds.
func TestSearchersTogether(t *testing.T) {
	g := readT5Golden(t)
	b := NewBeam(6, trieOf(t, g.Identifiers))
	onCard(t, "../t5/testdata/v1_0", func(m *seq2seq.Model) {
		want := testkit.Value(find(context.Background(), m, g.Queries, b, 3, nil))(t)
		x := testkit.Value(NewSearcher(m))(t)
		defer x.Close()
		var all [4][][]Hypothesis
		var failed [4]error
		var wait sync.WaitGroup
		for i := range all {
			wait.Go(func() { all[i], failed[i] = x.Search(context.Background(), g.Queries, b, 3, nil) })
		}
		wait.Wait()
		for i, got := range all {
			if failed[i] != nil {
				t.Fatal(failed[i])
			}
			sameHypotheses(t, fmt.Sprint("goroutine ", i), got, want)
		}
	})
}

// TestOverflowingQuery: in fp16 a query whose scores are not numbers has no hypotheses, and the others have theirs; in
// other types it is an error, as it is of weights that are not finite.
func TestOverflowingQuery(t *testing.T) {
	const bad = 77 // a token whose row is not finite, for one whose states overflow
	ctx, g := context.Background(), readT5Golden(t)
	ids := [][]int32{{5, 9, 1}, {5, 12, 1}, {30, 9, 1}, {31, 1}}
	queries := [][]int32{g.Queries[0], {4, bad, 8, 1}, g.Queries[1]}
	onCard(t, "../t5/testdata/v1_1", func(m *seq2seq.Model) {
		tensortest.Run(t, func(s *tensor.Scope) {
			tensor.NoGrad(func() { s.FillInPlace(s.Narrow(m.Param("shared.weight"), 0, bad, 1), math.NaN()) })
		})
		for name, do := range map[string]func(queries [][]int32) ([][]Hypothesis, error){
			"trie": func(queries [][]int32) ([][]Hypothesis, error) {
				b := NewBeam(3, trieOf(t, ids))
				b.Width, b.Return = 3, 3
				return find(ctx, m, queries, b, 8, nil)
			},
			"free": func(queries [][]int32) ([][]Hypothesis, error) {
				b := NewBeam(1, nil)
				b.Width, b.Return = 4, 4
				return find(ctx, m, queries, b, 8, nil)
			},
			"atomic": func(queries [][]int32) (all [][]Hypothesis, err error) {
				results, err := rank(ctx, m, queries, 30, 20, 5, 8)
				for _, r := range results {
					var of []Hypothesis
					for _, d := range r.Ranking {
						of = append(of, Hypothesis{Tokens: []int32{int32(d.Document)}, Score: d.Score})
					}
					all = append(all, of)
				}
				return all, err
			},
		} {
			m.Compute = tensor.F16
			want := testkit.Value(do([][]int32{queries[0], queries[2]}))(t)
			got, err := do(queries)
			if err != nil || len(got) != 3 || len(got[1]) != 0 || len(got[0]) == 0 {
				t.Fatalf("%s: %v, %v", name, got, err)
			}
			sameHypotheses(t, name, [][]Hypothesis{got[0], got[2]}, want)
			m.Compute = tensor.BF16
			testkit.ErrIs(t, testkit.Err(do(queries)), ErrNaN, name)
		}
	})
}

// TestInt8OnCard: a card refuses int8, and says what to ask for.
func TestInt8OnCard(t *testing.T) {
	_, err := models.LoadIn("../t5/testdata/v1_0", tensor.CUDA(0), "int8")
	testkit.ErrSays(t, err, "device cpu")
}

// TestHalfPrecisionTellsTokensApart: scores are float32 in every precision. Of 350 documents no more than three have another
// one's score, as sums of few products of short numbers may; rounded to bfloat16, some 50 would.
func TestHalfPrecisionTellsTokensApart(t *testing.T) {
	const folder, documents = "../t5/testdata/v1_0", 70
	g := readT5Golden(t)
	check := func(m *seq2seq.Model, compute tensor.DType) {
		m.Compute = compute
		got := testkit.Value(rank(context.Background(), m, g.Queries, 30, documents, documents, 3))(t)
		equal := 0
		for _, r := range got {
			scores := map[float64]bool{}
			for _, d := range r.Ranking {
				scores[d.Score] = true
			}
			equal += documents - len(scores)
		}
		if len(got)*documents < 350 || equal > 3 {
			t.Errorf("%s on %s: %d of %d documents have another one's score", compute, m.Device, equal, len(got)*documents)
		}
	}
	check(load(t, folder), tensor.BF16)
	onCard(t, folder, func(m *seq2seq.Model) {
		for _, compute := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
			check(m, compute)
		}
	})
}
