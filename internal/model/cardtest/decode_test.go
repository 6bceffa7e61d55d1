//go:build linux

package cardtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/testkit"
)

func open(t *testing.T, folder string, dev tensor.Device) *seq2seq.Model {
	t.Helper()
	m := testkit.Value(models.Load(folder, dev))(t)
	t.Cleanup(m.Close)
	return m
}

// TestDecoding: beam search, free and along a trie, samples, and ranking by atomic identifiers: the same hypotheses and
// documents as on the CPU, with its scores, in batches of any size. In half precision the scores along a trie are near the
// CPU's.
func TestDecoding(t *testing.T) {
	ctx := context.Background()
	for folder, golden := range map[string]string{
		"t5/testdata/v1_0": "decode/testdata/beam_t5.json", "t5/testdata/v1_1": "decode/testdata/beam_t5.json",
		"t5/testdata/umt5": "decode/testdata/beam_t5.json", "bart/testdata/plain": "bart/testdata/beam.json",
	} {
		var g struct{ Queries, Identifiers [][]int32 }
		goldens.JSON(t, "../"+golden, &g)
		trie := testkit.Value(docid.NewTrie(g.Identifiers))(t)
		keys := make([]uint64, len(g.Queries))
		for i := range keys {
			keys[i] = uint64(i)
		}
		type found struct {
			tokens [][]int32
			scores []float32
		}
		on := func(dev tensor.Device, compute tensor.DType, batch int) map[string]found {
			m := open(t, "../"+folder, dev)
			m.Compute = compute
			x := testkit.Value(decode.NewSearcher(m))(t)
			defer x.Close()
			all := map[string]found{}
			add := func(mode string, lists [][]decode.Hypothesis, err error) {
				if err != nil {
					t.Fatalf("%s, %s on %v: %v", folder, mode, dev, err)
				}
				f := all[mode]
				for _, hypotheses := range lists {
					for _, h := range hypotheses {
						f.tokens, f.scores = append(f.tokens, h.Tokens), append(f.scores, float32(h.Score))
					}
				}
				all[mode] = f
			}
			for _, stop := range []stopping.Rule{stopping.Full, stopping.Never} {
				for mode, b := range map[string]decode.Beam{"free": decode.NewBeam(6, nil), "trie": decode.NewBeam(6, trie)} {
					b.EarlyStopping = stop
					lists, err := x.Search(ctx, g.Queries, b, batch, nil)
					add(mode+" "+string(stop), lists, err)
				}
			}
			for mode, o := range map[string]decode.Sampling{
				"samples": {TopP: 1, Temperature: 1}, "top k": {TopK: 5, TopP: 1, Temperature: 0.7}, "top p": {TopP: 0.6, Temperature: 1.3}, "both": {TopK: 40, TopP: 0.9, Temperature: 0.8},
			} {
				o.Samples, o.MaxTokens, o.Seed = 7, 6, 11
				lists, err := x.Sample(ctx, g.Queries, keys, o, batch, nil)
				add(mode, lists, err)
			}
			ranker := testkit.Value(decode.NewRanker(m, 30, 70))(t)
			defer ranker.Close()
			results := testkit.Value(ranker.Rank(ctx, g.Queries, 10, batch, nil))(t)
			f := found{}
			for _, r := range results {
				for _, d := range r.Ranking {
					f.tokens, f.scores = append(f.tokens, []int32{int32(d.Document)}), append(f.scores, float32(d.Score))
				}
			}
			all["atomic"] = f
			return all
		}
		want := on(tensor.CPU, tensor.F32, 3)
		for _, batch := range []int{2, 64} {
			got := on(card, tensor.F32, batch)
			for mode, w := range want {
				near(t, "decode/"+folder+"/"+mode, got[mode].scores, w.scores, 1e-5)
				if !slices.EqualFunc(got[mode].tokens, w.tokens, slices.Equal) {
					t.Errorf("%s, %s: other hypotheses than on the CPU", folder, mode)
				}
			}
		}
		for compute, most := range map[tensor.DType]float64{tensor.BF16: 0.03, tensor.F16: 0.01} {
			const mode = "trie " + string(stopping.Full)
			got, w := on(card, compute, 64)[mode], want[mode]
			if len(got.scores) != len(w.scores) {
				t.Errorf("%s in %s: %d hypotheses, want %d", folder, compute, len(got.scores), len(w.scores))
				continue
			}
			slices.Sort(got.scores) // their order may be another one
			slices.Sort(w.scores)
			near(t, fmt.Sprintf("decode/%s/%s", folder, compute), got.scores, w.scores, most)
		}
	}
}

// TestEmbedding: vectors of every family of encoders. A batch is one transfer up and one down.
func TestEmbedding(t *testing.T) {
	for _, name := range []string{"roberta", "xlm_roberta", "distilbert", "mpnet", "electra"} {
		var texts [][]int32
		goldens.JSON(t, "../bert/testdata/texts.json", &texts)
		for _, pooling := range []bert.Pooling{bert.CLS, bert.Mean, bert.Max} {
			on := func(dev tensor.Device, compute tensor.DType) (all []float32) {
				m := testkit.Value(bert.Load("../bert/testdata/"+name, dev))(t)
				defer m.Close()
				if compute == tensor.BF16 {
					testkit.None(t, m.ToBF16())
				}
				var vectors [][]float32
				n := fakecard.Count(func() { vectors = testkit.Value(m.Embed(texts, pooling, 1000))(t) })
				if *kind == "fake" && dev == card && (n.Uploads != 1 || n.Downloads != 1 || n.Syncs != 0) {
					t.Errorf("%s, %s: %+v", name, pooling, n)
				}
				return slices.Concat(vectors...)
			}
			near(t, "embed/"+name+"/"+string(pooling), on(card, tensor.F32), on(tensor.CPU, tensor.F32), 1e-5)
			near(t, "embed in bf16/"+name+"/"+string(pooling), on(card, tensor.BF16), on(tensor.CPU, tensor.F32), 0.05)
		}
	}
}
