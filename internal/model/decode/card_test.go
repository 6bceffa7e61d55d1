package decode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
)

// onCard calls f with a model on an emulated card.
func onCard(t testing.TB, folder string, f func(m *seq2seq.Model)) {
	t.Helper()
	defer tensor.Emulate()()
	m, err := models.Load(folder, tensor.CUDA(0))
	if err != nil {
		t.Fatal(err)
	}
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

// TestCardEqualsCPU: beams, with and without a trie, samples and rankings.
func TestCardEqualsCPU(t *testing.T) {
	ctx := context.Background()
	for folder, golden := range map[string]string{
		"../t5/testdata/v1_0": "testdata/beam_t5.json", "../t5/testdata/umt5": "testdata/beam_t5.json", "../bart/testdata/plain": "../bart/testdata/beam.json",
	} {
		m, g := load(t, folder), readGolden(t, golden)
		trie := trieOf(t, g.Identifiers)
		keys := make([]uint64, len(g.Queries))
		for i := range keys {
			keys[i] = uint64(i)
		}
		type run struct {
			name string
			of   func(m *seq2seq.Model, batch int) ([][]Hypothesis, error)
		}
		var runs []run
		for name, b := range map[string]Beam{"free": NewBeam(6, nil), "trie": NewBeam(6, trie)} {
			for _, stop := range []stopping.Rule{stopping.Full, stopping.Never} {
				b.EarlyStopping = stop
				runs = append(runs, run{folder + " " + name + " " + string(stop), func(m *seq2seq.Model, batch int) ([][]Hypothesis, error) {
					return find(ctx, m, g.Queries, b, batch, nil)
				}})
			}
		}
		for name, o := range map[string]Sampling{
			"all": {TopP: 1, Temperature: 1}, "top k": {TopK: 5, TopP: 1, Temperature: 0.7}, "top p": {TopP: 0.6, Temperature: 1.3}, "both": {TopK: 40, TopP: 0.9, Temperature: 0.8},
		} {
			o.Samples, o.MaxTokens, o.Seed = 7, 6, 11
			runs = append(runs, run{folder + " sampling " + name, func(m *seq2seq.Model, batch int) ([][]Hypothesis, error) {
				x, err := NewSearcher(m)
				if err != nil {
					return nil, err
				}
				defer x.Close()
				return x.Sample(ctx, g.Queries, keys, o, batch, nil)
			}})
		}
		for _, r := range runs {
			want, err := r.of(m, 3)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			onCard(t, folder, func(m *seq2seq.Model) {
				before := int64(0)
				for i, batch := range []int{2, 64} {
					got, err := r.of(m, batch)
					if err != nil {
						t.Fatalf("%s: %v", r.name, err)
					}
					sameHypotheses(t, r.name, got, want)
					if i == 0 { // the model has its copies now
						before = tensor.Live()
					}
				}
				if n := tensor.Live(); n != before {
					t.Errorf("%s: %d tensors live, %d before", r.name, n, before)
				}
			})
		}
		want, err := rank(ctx, m, g.Queries, 30, 70, 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		onCard(t, folder, func(m *seq2seq.Model) {
			got, err := rank(ctx, m, g.Queries, 30, 70, 10, 3)
			if err != nil {
				t.Fatal(err)
			}
			for q, r := range want {
				for i, w := range r.Ranking {
					if h := got[q].Ranking[i]; h.Document != w.Document || math.Abs(h.Score-w.Score) > 1e-5 {
						t.Errorf("%s atomic, query %d, rank %d: %+v, want %+v", folder, q, i+1, h, w)
					}
				}
			}
		})
	}
}

// TestCardInHalf: in half precision a card names the documents that float32 does, with
// scores a few thousandths apart.
func TestCardInHalf(t *testing.T) {
	const folder = "../t5/testdata/v1_0"
	ctx, g := context.Background(), readT5Golden(t)
	b := NewBeam(6, trieOf(t, g.Identifiers))
	want, err := find(ctx, load(t, folder), g.Queries, b, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	for compute, tolerance := range map[tensor.DType]float64{tensor.BF16: 0.03, tensor.F16: 0.004} {
		onCard(t, folder, func(m *seq2seq.Model) {
			m.Compute = compute
			got, err := find(ctx, m, g.Queries, b, 3, nil)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for q := range want {
				scores := map[string]float64{}
				for _, h := range want[q] {
					scores[fmt.Sprint(h.Tokens)] = h.Score
				}
				if len(got[q]) != len(want[q]) {
					t.Errorf("%s, query %d: %d hypotheses, want %d", compute, q, len(got[q]), len(want[q]))
				}
				for _, h := range got[q] {
					if score, ok := scores[fmt.Sprint(h.Tokens)]; ok {
						worst = max(worst, math.Abs(h.Score-score))
					}
				}
			}
			if t.Logf("%s: scores are at most %.2g apart", compute, worst); worst == 0 || worst > tolerance {
				t.Errorf("%s: scores are %g apart", compute, worst)
			}
		})
	}
}

// TestSearchersTogether: goroutines that share a searcher on a card, and a trie that none
// of them has used before, find what one alone finds.
func TestSearchersTogether(t *testing.T) {
	g := readT5Golden(t)
	b := NewBeam(6, trieOf(t, g.Identifiers))
	onCard(t, "../t5/testdata/v1_0", func(m *seq2seq.Model) {
		want, err := find(context.Background(), m, g.Queries, b, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := NewSearcher(m)
		if err != nil {
			t.Fatal(err)
		}
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
			want, err := do([][]int32{queries[0], queries[2]})
			if err != nil {
				t.Fatal(err)
			}
			got, err := do(queries)
			if err != nil || len(got) != 3 || len(got[1]) != 0 || len(got[0]) == 0 {
				t.Fatalf("%s: %v, %v", name, got, err)
			}
			sameHypotheses(t, name, [][]Hypothesis{got[0], got[2]}, want)
			m.Compute = tensor.BF16
			if _, err := do(queries); !errors.Is(err, ErrNaN) {
				t.Errorf("%s in bf16: %v", name, err)
			}
		}
	})
}

// TestHalfPrecisionTellsTokensApart: scores are float32 in every precision, so that no two documents are equal which
// float32 tells apart.
func TestHalfPrecisionTellsTokensApart(t *testing.T) {
	const folder, documents = "../t5/testdata/v1_0", 70
	g := readT5Golden(t)
	check := func(m *seq2seq.Model, compute tensor.DType) {
		m.Compute = compute
		got, err := rank(context.Background(), m, g.Queries, 30, documents, documents, 3)
		if err != nil {
			t.Fatal(err)
		}
		for q, r := range got {
			scores := map[float64]bool{}
			for _, d := range r.Ranking {
				scores[d.Score] = true
			}
			if len(scores) != documents {
				t.Errorf("%s on %s, query %d: %d scores of %d documents", compute, m.Device, q, len(scores), documents)
			}
		}
	}
	check(load(t, folder), tensor.BF16)
	onCard(t, folder, func(m *seq2seq.Model) {
		for _, compute := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
			check(m, compute)
		}
	})
}
