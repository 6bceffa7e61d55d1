//go:build linux

package decode

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	seeded "github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/system/testkit"
)

// counted is a session that counts what each of its tokens asks of a card.
type counted struct {
	*session
	tokens *[]fakecard.Counts
}

func (c counted) Step(ctx context.Context, queries []int, tokens, parents []int32) (scores Scores, err error) {
	*c.tokens = append(*c.tokens, fakecard.Count(func() { scores, err = c.session.Step(ctx, queries, tokens, parents) }))
	if err != nil {
		return nil, err
	}
	return countedScores{scores.(*cardStep), c.tokens}, nil
}

// countedScores add what is asked of a token's scores to what its Step asked.
type countedScores struct {
	*cardStep
	tokens *[]fakecard.Counts
}

func (c countedScores) count(f func()) {
	of := &(*c.tokens)[len(*c.tokens)-1]
	n := fakecard.Count(f)
	for name, k := range of.Operators {
		n.Operators[name] += k
	}
	n.Launches, n.Uploads, n.Downloads, n.Syncs = n.Launches+of.Launches, n.Uploads+of.Uploads, n.Downloads+of.Downloads, n.Syncs+of.Syncs
	*of = n
}

func (c countedScores) Top(sums []float32, n int, trie *docid.Trie, nodes []docid.Node) (out [][]Candidate, err error) {
	c.count(func() { out, err = c.cardStep.Top(sums, n, trie, nodes) })
	return out, err
}

func (c countedScores) Draw(o *Sampling, rows []int32, u []float64) (out []Candidate, err error) {
	c.count(func() { out, err = c.cardStep.Draw(o, rows, u) })
	return out, err
}

// shape is a T5 model of so many layers, with random weights. Kernels are as many
// whatever its widths are, which are small here.
func shape(t *testing.T, layers int64) *seq2seq.Model {
	t.Helper()
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 600, 16, 4, 32, layers, layers, 4
	m := testkit.Value(seq2seq.Init(c, 3, tensor.CUDA(0)))(t)
	t.Cleanup(m.Close)
	return m
}

// few are sequences of the model's tokens.
func few(n, low, high int) [][]int32 {
	var d seeded.Numbers
	all := d.Sequences(n, low, high)
	for _, q := range all {
		for i := range q {
			q[i] = 2 + q[i]%598
		}
	}
	return all
}

// TestCounts: a token costs one transfer in each direction and waits for nothing else, of
// beams, along a trie and of samples, whether rows change places, queries end or their
// samples do. The golden file has the kernels of the last whole token of each, and of an
// atomic batch from the queries to the ranking.
func TestCounts(t *testing.T) {
	ctx, queries := context.Background(), few(5, 3, 9)
	seen := map[[2]int32]bool{}
	var ids [][]int32
	for _, s := range few(400, 2, 2) {
		if id := [2]int32(s); !seen[id] {
			seen[id] = true
			ids = append(ids, []int32{id[0], id[1], 2 + id[0]%7, 1})
		}
	}
	trie := trieOf(t, ids)
	got := map[string]map[string]int64{}
	for name, layers := range map[string]int64{"tiny": 4, "small": 6, "base": 12} {
		m := shape(t, layers)
		x := testkit.Value(NewSearcher(m))(t)
		defer x.Close()
		testkit.None(t, tensor.Try(func() { testkit.Value(x.card.trie(trie, x))(t) }))
		for mode, find := range map[string]func(s Stepper) ([][]Hypothesis, error){
			"beam": func(s Stepper) ([][]Hypothesis, error) { return Search(ctx, s, len(queries), NewBeam(6, nil)) },
			"trie": func(s Stepper) ([][]Hypothesis, error) { return Search(ctx, s, len(queries), NewBeam(6, trie)) },
			"sample": func(s Stepper) ([][]Hypothesis, error) {
				return Sample(ctx, s, make([]uint64, len(queries)), samples())
			},
		} {
			got[name+" "+mode] = oneTransfer(t, name+" "+mode, x, queries, find)[2].Operators
		}
		var n fakecard.Counts
		r := testkit.Value(NewRanker(m, 100, 500))(t)
		testkit.None(t, tensor.Try(func() {
			n = fakecard.Count(func() { testkit.Value(r.Rank(ctx, queries, 40, len(queries), nil))(t) })
		}))
		r.Close()
		if n.Uploads != 3 || n.Downloads != 1 || n.Syncs != 0 { // inputs, what the decoder's positions need, the token
			t.Errorf("%s: an atomic batch has %d uploads, %d downloads and waits for %v", name, n.Uploads, n.Downloads, n.Syncs)
		}
		got[name+" atomic"] = n.Operators
	}
	const path = "testdata/card_counts.json"
	var want map[string]map[string]int64
	goldens.OfJSON(t, path, got, &want)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !maps.Equal(got[name], want[name]) {
			t.Errorf("%s: kernels %v, want %v (-update writes them)", name, got[name], want[name])
		}
	}
	testkit.Is(t, len(got), len(want), "counts")
}

// samples are some whose ends come at different tokens.
func samples() Sampling {
	return Sampling{Samples: 4, MaxTokens: 6, TopK: 10, TopP: 0.9, Temperature: 0.8, Seed: 3, Start: 0, EOS: 1}
}

// TestPositions: a family that looks up positions has no more transfers.
func TestPositions(t *testing.T) {
	g := readGolden(t, "../bart/testdata/beam.json")
	onCard(t, "../bart/testdata/plain", func(m *seq2seq.Model) {
		x := testkit.Value(NewSearcher(m))(t)
		defer x.Close()
		b := NewBeam(6, nil)
		b.EOS = int32(m.Vocabulary().EOS)
		oneTransfer(t, "bart", x, g.Queries, func(s Stepper) ([][]Hypothesis, error) { return Search(context.Background(), s, len(g.Queries), b) })
	})
}

// oneTransfer is what each token asks of a card, which is a transfer in each direction.
func oneTransfer(t *testing.T, name string, x *Searcher, queries [][]int32, find func(Stepper) ([][]Hypothesis, error)) (tokens []fakecard.Counts) {
	t.Helper()
	testkit.None(t, tensor.Try(func() {
		c := testkit.Value(start(x, nil, queries, 6))(t)
		defer c.close()
		testkit.Value(find(counted{c, &tokens}))(t)
	}))
	for i, n := range tokens {
		if n.Uploads != 1 || n.Downloads != 1 || n.Syncs != 0 {
			t.Errorf("%s, token %d: %d uploads, %d downloads, waits for %v", name, i+1, n.Uploads, n.Downloads, n.Syncs)
		}
	}
	if len(tokens) < 3 {
		t.Fatalf("%s: %d tokens", name, len(tokens))
	}
	return tokens
}
