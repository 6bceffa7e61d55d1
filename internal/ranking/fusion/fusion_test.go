package fusion

import (
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// read reads a run; scores are by rank, as tools/golden/fusion.py reads the first run, or the file's.
func read(t *testing.T, path string, byRank bool) []trec.Ranking {
	t.Helper()
	run := goldens.Read(t, path, trec.ReadRun)
	for _, r := range run {
		for i := range r.Hypotheses {
			if byRank {
				r.Hypotheses[i].Score = -float64(i + 1)
			}
		}
	}
	return run
}

// TestRanx: every fused score of every way is what ranx says.
func TestRanx(t *testing.T) {
	var g map[string]map[string]map[string]float64
	goldens.JSON(t, "testdata/fusion.json", &g)
	for name, c := range map[string]struct {
		how     Method
		weights [2]float64
		raised  float64 // scores are above 0
	}{
		"rrf":     {how: Method{K: 60}, weights: [2]float64{1, 1}},
		"rrf10":   {how: Method{K: 10}, weights: [2]float64{1, 1}},
		"min_max": {how: Method{Normalize: MinMax}, weights: [2]float64{0.3, 0.7}},
		"max":     {how: Method{Normalize: Max}, weights: [2]float64{0.3, 0.7}, raised: 100},
		"zscore":  {how: Method{Normalize: ZScore}, weights: [2]float64{0.3, 0.7}},
	} {
		c.how.Depth = 1000
		f := New(c.how)
		for i, run := range [][]trec.Ranking{read(t, "../metrics/testdata/graded.run", true), read(t, "testdata/other.run", false)} {
			for _, r := range run {
				for k := range r.Hypotheses {
					r.Hypotheses[k].Score += c.raised
				}
			}
			if n, err := f.Add(trec.Held(run), c.weights[i]); err != nil || n != len(run) {
				t.Fatal(n, err)
			}
		}
		compared := 0
		for r := range f.Rankings() {
			want, both := g[name][r.Query]
			if !both {
				continue
			}
			testkit.Is(t, len(r.Hypotheses), len(want), name, r.Query)
			for i, h := range r.Hypotheses {
				compared++
				if w, ok := want[h.Document]; !ok || math.Abs(h.Score-w) > 1e-12*max(1, math.Abs(w)) {
					t.Fatalf("%s: %s of %s scores %v, want %v", name, h.Document, r.Query, h.Score, w)
				}
				if i > 0 && h.Score > r.Hypotheses[i-1].Score {
					t.Errorf("%s: %s is not ordered", name, r.Query)
				}
			}
		}
		if compared < 500 {
			t.Errorf("%s: %d documents were compared", name, compared)
		}
	}
}

// TestFusion by hand: what a run lacks adds nothing, hypotheses of no document and repeated ones have no rank,
// equal scores are by number, and no more than Depth are kept.
func TestFusion(t *testing.T) {
	f := New(Method{K: 1, Depth: 3})
	for _, run := range []string{
		"q Q0 !1:x 1 4 t\nq Q0 10 2 3 t\nq Q0 !3=10 3 2 t\nq Q0 9 4 1 t\np Q0 1 1 1 t\n",
		"q Q0 9 1 3 t\nq Q0 10 2 2 t\nq Q0 2 3 1 t\nq Q0 1 4 0 t\n",
	} {
		testkit.None(t, testkit.Err(f.Add(trec.Rankings(strings.NewReader(run)), 1)))
	}
	var got []trec.Ranking
	for r := range f.Rankings() {
		got = append(got, r)
	}
	if len(got) != 2 || f.Queries() != 2 || f.Partial() != 1 || got[1].Query != "p" || len(got[1].Hypotheses) != 1 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []trec.Hypothesis{{Document: "9", Score: 1./2 + 1./3}, {Document: "10", Score: 1./2 + 1./3}, {Document: "2", Score: 1. / 4}} {
		if h := got[0].Hypotheses[i]; h.Document != want.Document || math.Abs(h.Score-want.Score) > 1e-15 {
			t.Errorf("%d: %+v, want %+v", i, h, want)
		}
	}
	testkit.Is(t, len(got[0].Hypotheses), 3, "documents")
}
