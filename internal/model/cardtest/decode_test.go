//go:build linux

package cardtest

import (
	"context"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

func open(t *testing.T, folder string, dev tensor.Device) *seq2seq.Model {
	t.Helper()
	m, err := models.Load(folder, dev)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// TestDecoding: beam search, free and along a trie, and ranking by atomic identifiers: the same hypotheses and
// documents as on the CPU, with its scores.
func TestDecoding(t *testing.T) {
	var g struct{ Queries, Identifiers [][]int32 }
	goldens.JSON(t, "../decode/testdata/beam_t5.json", &g)
	trie, err := docid.NewTrie(g.Identifiers)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, name := range []string{"v1_0", "v1_1"} {
		type found struct {
			tokens [][]int32
			scores []float32
		}
		on := func(dev tensor.Device) map[string]found {
			m := open(t, "../t5/testdata/"+name, dev)
			x, err := decode.NewSearcher(m)
			if err != nil {
				t.Fatal(err)
			}
			all := map[string]found{}
			add := func(mode string, lists [][]decode.Hypothesis, err error) {
				if err != nil {
					t.Fatalf("%s, %s on %v: %v", name, mode, dev, err)
				}
				f := all[mode]
				for _, hypotheses := range lists {
					for _, h := range hypotheses {
						f.tokens, f.scores = append(f.tokens, h.Tokens), append(f.scores, float32(h.Score))
					}
				}
				all[mode] = f
			}
			lists, err := x.Search(ctx, g.Queries, decode.NewBeam(6, nil), 3, nil)
			add("free", lists, err)
			lists, err = x.Search(ctx, g.Queries, decode.NewBeam(trie.Depth(), trie), 3, nil)
			add("trie", lists, err)
			ranker, err := decode.NewRanker(m, 30, 70)
			if err != nil {
				t.Fatal(err)
			}
			results, err := ranker.Rank(ctx, g.Queries, 10, 3, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := found{}
			for _, r := range results {
				for _, d := range r.Ranking {
					f.tokens, f.scores = append(f.tokens, []int32{int32(d.Document)}), append(f.scores, float32(d.Score))
				}
			}
			all["atomic"] = f
			return all
		}
		want, got := on(tensor.CPU), on(card)
		for mode, w := range want {
			near(t, "decode/"+name+"/"+mode, got[mode].scores, w.scores, 1e-5)
			if !slices.EqualFunc(got[mode].tokens, w.tokens, slices.Equal) {
				t.Errorf("%s, %s: other hypotheses than on the CPU", name, mode)
			}
		}
	}
}

// TestEmbedding: vectors of every family of encoders.
func TestEmbedding(t *testing.T) {
	for _, name := range []string{"roberta", "xlm_roberta", "distilbert", "mpnet", "electra"} {
		var texts [][]int32
		goldens.JSON(t, "../bert/testdata/texts.json", &texts)
		for _, pooling := range []bert.Pooling{bert.CLS, bert.Mean, bert.Max} {
			on := func(dev tensor.Device) (all []float32) {
				m, err := bert.Load("../bert/testdata/"+name, dev)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				vectors, err := m.Embed(texts, pooling, 40)
				if err != nil {
					t.Fatalf("%s on %v: %v", name, dev, err)
				}
				return slices.Concat(vectors...)
			}
			near(t, "embed/"+name+"/"+string(pooling), on(card), on(tensor.CPU), 1e-5)
		}
	}
}
