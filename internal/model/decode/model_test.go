package decode

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/testkit"
)

func load(t testing.TB, folder string) *seq2seq.Model {
	t.Helper()
	m := testkit.Value(models.Load(folder, tensor.CPU))(t)
	t.Cleanup(m.Close)
	return m
}

type beamGolden struct {
	Queries     [][]int32
	Identifiers [][]int32
	Results     map[string][][]struct {
		Tokens []int32
		Score  float64
	}
}

// find and rank make what is needed for one call.
func find(ctx context.Context, m *seq2seq.Model, queries [][]int32, b Beam, batch int, report func(int)) ([][]Hypothesis, error) {
	x, err := NewSearcher(m)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Search(ctx, queries, b, batch, report)
}

func rank(ctx context.Context, m *seq2seq.Model, queries [][]int32, first, documents int64, k, batch int) ([]Result, error) {
	x, err := NewRanker(m, first, documents)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Rank(ctx, queries, k, batch, nil)
}

func readT5Golden(t testing.TB) *beamGolden { return readGolden(t, "testdata/beam_t5.json") }

func readGolden(t testing.TB, path string) (g *beamGolden) {
	t.Helper()
	goldens.JSON(t, path, &g)
	return g
}

// TestEqualsTransformers compares sequences and scores, for any size of batch, of T5 and
// BART (tools/golden/beam_t5.py, transformers5.py, bart.py).
func TestEqualsTransformers(t *testing.T) {
	equalsTransformers(t, "../t5/testdata/", readT5Golden(t), "v1_0", "v1_1")
	equalsTransformers(t, "../t5/testdata/by5/", readGolden(t, "testdata/beam_by5.json"), "resaved", "mt5_resaved", "untied", "tied", "mt5")
	equalsTransformers(t, "../bart/testdata/", readGolden(t, "../bart/testdata/beam.json"), "plain", "scaled")
}

func equalsTransformers(t *testing.T, folder string, g *beamGolden, names ...string) {
	t.Helper()
	trie := trieOf(t, g.Identifiers)
	for _, name := range names {
		m := load(t, folder+name)
		for _, batch := range []int{1, 2, 64} {
			for mode, b := range map[string]Beam{"free": NewBeam(6, nil), "trie": NewBeam(6, trie), "free/full": NewBeam(6, nil), "trie/full": NewBeam(6, trie)} {
				if !strings.HasSuffix(mode, "/full") {
					b.EarlyStopping = stopping.Heuristic
				}
				got := testkit.Value(find(context.Background(), m, g.Queries, b, batch, nil))(t)
				apart := 0.0
				for q, want := range g.Results[name+"/"+mode] {
					if len(got[q]) != len(want) {
						t.Errorf("%s %s: query %d has %d hypotheses, want %d", name, mode, q, len(got[q]), len(want))
						continue
					}
					for i, w := range want {
						h := got[q][i]
						apart = max(apart, math.Abs(h.Score-w.Score))
						if !slices.Equal(h.Tokens, w.Tokens) || math.Abs(h.Score-w.Score) > 1e-4 {
							t.Errorf("%s %s: query %d, hypothesis %d: %v %.6f, want %v %.6f", name, mode, q, i, h.Tokens, h.Score, w.Tokens, w.Score)
						}
					}
				}
				t.Logf("%s %s, batches of %d: scores differ by at most %.2g", name, mode, batch, apart)
			}
			got := testkit.Value(rank(context.Background(), m, g.Queries, 30, 70, 10, batch))(t)
			for q, want := range g.Results[name+"/atomic"] {
				for i, w := range want {
					if r := got[q].Ranking[i]; r.Document != int(w.Tokens[0]) || math.Abs(r.Score-w.Score) > 1e-4 {
						t.Errorf("%s atomic: query %d, rank %d: %+v, want %v", name, q, i+1, r, w)
					}
				}
			}
		}
	}
}

func TestT5Leaks(t *testing.T) {
	m, g := load(t, "../t5/testdata/v1_0"), readT5Golden(t)
	before := tensor.Live()
	testkit.None(t, testkit.Err(find(context.Background(), m, g.Queries, NewBeam(6, nil), 2, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := find(ctx, m, g.Queries, NewBeam(6, nil), 2, func(int) { cancel() }); err == nil {
		t.Error("a cancelled search went on")
	}
	testkit.Is(t, tensor.Live(), before)
}

func TestT5Mistakes(t *testing.T) {
	m := load(t, "../t5/testdata/v1_0")
	ctx := context.Background()
	query := [][]int32{{5, 1}}
	for want, err := range map[string]error{
		"query 1 has no tokens": testkit.Err(find(ctx, m, [][]int32{{5, 1}, {}}, NewBeam(4, nil), 2, nil)),
		"query 0 has token 100": testkit.Err(rank(ctx, m, [][]int32{{100}}, 30, 70, 5, 2)),
		"batches of 0":          testkit.Err(find(ctx, m, query, NewBeam(4, nil), 0, nil)),
		"was it extended":       testkit.Err(rank(ctx, m, query, 100, 70, 5, 2)),
		"the 0 best documents":  testkit.Err(rank(ctx, m, query, 30, 70, 0, 2)),
		"0 beams":               testkit.Err(find(ctx, m, query, Beam{}, 1, nil)),
		"end with token 1, and the model ends what it writes with token 2": testkit.Err(find(ctx, load(t, "../bart/testdata/plain"), query,
			NewBeam(6, trieOf(t, readT5Golden(t).Identifiers)), 2, nil)),
		"end with several tokens": testkit.Err(find(ctx, m, query, NewBeam(4, trieOf(t, [][]int32{{5, 1}, {6, 2}, {7, 1}})), 1, nil)),
		"token 400":               testkit.Err(find(ctx, m, query, NewBeam(4, trieOf(t, [][]int32{{400, 1}})), 1, nil)),
	} {
		testkit.ErrSays(t, err, want)
	}
	got, err := rank(ctx, m, query, 30, 7, 50, 2)
	testkit.None(t, err, "the 50 best of 7 documents", got)
	testkit.Is(t, len(got[0].Ranking), 7, "the 50 best of 7 documents", got)
	if none, err := find(ctx, m, nil, NewBeam(4, nil), 8, nil); err != nil || len(none) != 0 {
		t.Errorf("no queries: %v, %v", none, err)
	}
}

// TestHalfOnCPU: a model that computes in bf16 on a CPU, where libtorch multiplies, is searched
// with scores near float32's; scores that are no numbers are an error.
func TestHalfOnCPU(t *testing.T) {
	ctx, g, m := context.Background(), readT5Golden(t), load(t, "../t5/testdata/v1_0")
	for name, b := range map[string]Beam{"free": NewBeam(6, nil), "trie": NewBeam(6, trieOf(t, g.Identifiers))} {
		m.Compute = tensor.F32
		want := testkit.Value(find(ctx, m, g.Queries, b, 3, nil))(t)
		m.Compute = tensor.BF16
		for _, m.HalfScores = range []bool{false, true} {
			got := testkit.Value(find(ctx, m, g.Queries, b, 3, nil))(t)
			for q := range want {
				if d := math.Abs(got[q][0].Score - want[q][0].Score); len(got[q]) != len(want[q]) || d > 0.03 || d == 0 {
					t.Errorf("%s, query %d: %d hypotheses, want %d; the best scores are %g apart", name, q, len(got[q]), len(want[q]), d)
				}
			}
		}
	}
	tensortest.Run(t, func(s *tensor.Scope) {
		for _, p := range m.Params {
			s.FillInPlace(s.Detach(p.Tensor), math.NaN())
		}
	})
	testkit.ErrIs(t, testkit.Err(find(ctx, m, g.Queries, NewBeam(6, nil), 3, nil)), ErrNaN, "scores that are no numbers")
}

// TestInt8: a model of each family that computes in int8 finds most of float32's hypotheses, with scores that are near and others, and
// follows changes of its parameters.
func TestInt8(t *testing.T) {
	ctx, g := context.Background(), readT5Golden(t)
	for name, changed := range map[string]string{"../t5/testdata/v1_0": "decoder.block.0.layer.2.DenseReluDense.wo.weight",
		"../t5/testdata/v1_1": "encoder.block.0.layer.0.SelfAttention.q.weight", "../bart/testdata/plain": "model.decoder.layers.0.fc2.weight"} {
		m := load(t, name)
		scores := map[string]float64{}
		common, far := 0, 0.0
		for _, precision := range []string{"fp32", "int8"} {
			testkit.None(t, m.SearchIn(precision))
			found := testkit.Value(find(ctx, m, g.Queries, NewBeam(6, nil), 3, nil))(t)
			for q, all := range found {
				for _, h := range all {
					key := fmt.Sprint(q, h.Tokens)
					if of, ok := scores[key]; ok {
						common++
						far = max(far, math.Abs(of-h.Score))
					}
					scores[key] = h.Score
				}
			}
		}
		if n := 40 * len(g.Queries); common < n*9/10 || far > 0.05 || far == 0 {
			t.Errorf("%s: %d hypotheses of %d are float32's, with scores up to %g apart", name, common, n, far)
		}
		tensortest.Run(t, func(s *tensor.Scope) { s.FillInPlace(s.Detach(m.Param(changed)), math.NaN()) })
		m.Changed()
		testkit.ErrIs(t, testkit.Err(find(ctx, m, g.Queries, NewBeam(6, nil), 3, nil)), ErrNaN, name)
	}
}

// TestSameForAnyBatch: hypotheses and rankings have the same bytes whatever is decoded together, on any number of
// threads, where a row of a product does not depend on others.
func TestSameForAnyBatch(t *testing.T) {
	if !tensor.SameForAnyRows() {
		t.Skip("not promised on this processor")
	}
	defer tensor.SetNumThreads(tensor.NumThreads())
	for _, c := range [][2]string{{"../t5/testdata/v1_0", "fp32"}, {"../t5/testdata/v1_0", "int8"}, {"../bart/testdata/plain", "fp32"}} {
		name, g := c[0], readT5Golden(t)
		m := load(t, name)
		testkit.None(t, m.SearchIn(c[1]))
		var queries [][]int32
		for range 60 {
			queries = append(queries, g.Queries...)
		}
		var found [][]Hypothesis
		var ranked []Result
		for _, threads := range []int{1, 2, 3} {
			tensor.SetNumThreads(threads)
			for _, batch := range []int{1000, 3} {
				last := 0
				got, err := find(context.Background(), m, queries, NewBeam(6, nil), batch, func(done int) {
					testkit.That(t, done > last && done <= len(queries), done, "queries are done after", last)
					last = done
				})
				testkit.None(t, err)
				of := testkit.Value(rank(context.Background(), m, queries, 30, 70, 10, batch))(t)
				testkit.Is(t, last, len(queries))
				if found == nil {
					found, ranked = got, of
				}
				if !reflect.DeepEqual(got, found) || !reflect.DeepEqual(of, ranked) {
					t.Errorf("%s: other results of %d at once on %d threads", c, batch, threads)
				}
			}
		}
	}
}
