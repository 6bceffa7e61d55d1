package decode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/testkit"
)

const weyl = 0x9E3779B97F4A7C15

// table is a model whose logits are a hash of query, step, last token and token.
type table struct {
	seed     uint64
	vocab    int
	eosBonus float64
	step     int
	last     []int32 // of the rows of the last Step
	queries  []int
	widths   []int // rows per query of each Step
	maxima   bool
	fail     error
}

func (m *table) logit(query, step int, last, token int32) float64 {
	h := m.seed
	for _, v := range []uint64{uint64(query), uint64(step), uint64(last), uint64(token)} {
		h = splitmix.Finish(h + weyl + v)
	}
	x := float64(h>>40) / (1 << 24) * 6
	if token == 1 {
		x += m.eosBonus * float64(step)
	}
	return x
}

func (m *table) logProbs(query, step int, last int32) []float32 {
	sum := 0.0
	out := make([]float32, m.vocab)
	for t := range out {
		sum += math.Exp(m.logit(query, step, last, int32(t)))
	}
	for t := range out {
		out[t] = float32(m.logit(query, step, last, int32(t)) - math.Log(sum))
	}
	return out
}

func (m *table) Step(_ context.Context, queries []int, tokens, parents []int32) (Scores, error) {
	if m.fail != nil {
		return nil, m.fail
	}
	m.step++
	width := len(tokens) / len(queries)
	if len(parents) > 0 { // every row's parent is a row of the same query
		before := len(m.last) / len(m.queries)
		for i, p := range parents {
			if m.queries[int(p)/before] != queries[i/width] {
				return nil, fmt.Errorf("row %d of query %d goes on from row %d of query %d", i, queries[i/width], p, m.queries[int(p)/before])
			}
		}
	}
	m.last, m.queries = slices.Clone(tokens), slices.Clone(queries)
	m.widths = append(m.widths, width)
	out := &Table{Vocab: m.vocab, Queries: len(queries)}
	for i, t := range tokens {
		row := m.logProbs(queries[i/width], m.step, t)
		out.Logits, out.Norms = append(out.Logits, row...), append(out.Norms, row[0]-row[0])
	}
	if m.maxima {
		out.Block = 7
		for row := range tokens {
			for c := 0; c < m.vocab; c += out.Block {
				out.Maxima = append(out.Maxima, slices.Max(out.Logits[row*m.vocab+c:row*m.vocab+min(c+out.Block, m.vocab)]))
			}
		}
	}
	return out, nil
}

// sequences are prefix-free, as in tools/golden/beam_table.py.
func sequences(seed uint64, vocab, count, longest int) [][]int32 {
	x := seed
	seen := map[string]bool{}
	var out [][]int32
	for len(out) < count {
		x = splitmix.Finish(x + weyl)
		var ids []int32
		for range 1 + x%uint64(longest) {
			x = splitmix.Finish(x + weyl)
			ids = append(ids, 2+int32(x%uint64(vocab-2)))
		}
		if key := fmt.Sprint(ids); !seen[key] {
			seen[key] = true
			out = append(out, append(ids, 1))
		}
	}
	return out
}

func trieOf(t testing.TB, sequences [][]int32) *docid.Trie {
	t.Helper()
	return testkit.Value(docid.NewTrie(sequences))(t)
}

type goldenCase struct {
	Name     string
	Vocab    int
	Beams    int
	Returned int
	Tokens   int
	Penalty  float64
	Early    any
	EOS      float64
	IDs      int
	Longest  int
	Seed     uint64
	Queries  int
	Results  [][]struct {
		Tokens []int32
		Score  float64
	}
}

func (c *goldenCase) beam(t *testing.T) Beam {
	b := Beam{Width: c.Beams, Return: c.Returned, MaxTokens: c.Tokens, LengthPenalty: c.Penalty, EOS: 1,
		EarlyStopping: map[any]stopping.Rule{false: stopping.Heuristic, true: stopping.Full, "never": stopping.Never}[c.Early]}
	if c.IDs > 0 {
		b.Trie = trieOf(t, sequences(c.Seed, c.Vocab, c.IDs, c.Longest))
	}
	return b
}

func TestSearchEqualsTransformers(t *testing.T) {
	var cases []goldenCase
	goldens.JSON(t, "testdata/beam_table.json", &cases)
	for _, c := range cases {
		for _, maxima := range []bool{false, true} {
			m := &table{seed: c.Seed, vocab: c.Vocab, eosBonus: c.EOS, maxima: maxima}
			got, err := Search(context.Background(), m, c.Queries, c.beam(t))
			testkit.None(t, err, c.Name)
			for q, want := range c.Results {
				if len(got[q]) != len(want) {
					t.Errorf("%s: query %d has %d hypotheses, want %d", c.Name, q, len(got[q]), len(want))
					continue
				}
				for i, w := range want {
					if h := got[q][i]; !slices.Equal(h.Tokens, w.Tokens) || math.Abs(h.Score-w.Score) > 1e-5 {
						t.Errorf("%s: query %d, hypothesis %d: %v %.6f, want %v %.6f", c.Name, q, i, h.Tokens, h.Score, w.Tokens, w.Score)
					}
				}
			}
			testkit.Is(t, m.widths[0], 1, c.Name)
		}
	}
}

func TestSearchMistakes(t *testing.T) {
	trie := trieOf(t, [][]int32{{5, 6, 7, 1}})
	for _, c := range []struct {
		change func(*Beam)
		want   string
	}{
		{func(b *Beam) { b.Width = 0 }, "0 beams"},
		{func(b *Beam) { b.Return = 41 }, "between 1 and 40"},
		{func(b *Beam) { b.MaxTokens = 0 }, "at most 0 new tokens"},
		{func(b *Beam) { b.LengthPenalty = math.NaN() }, "length penalty"},
		{func(b *Beam) { b.EarlyStopping = "soon" }, `"soon"`},
		{func(b *Beam) { b.Trie, b.MaxTokens = trie, 3 }, "longest identifier has 4 tokens"},
		{func(b *Beam) { b.Trie = trieOf(t, nil) }, "no identifier"},
		{func(b *Beam) { b.Trie = trieOf(t, [][]int32{{50, 1}}) }, "token 50"},
	} {
		b := NewBeam(6, nil)
		c.change(&b)
		testkit.ErrSays(t, testkit.Err(Search(context.Background(), &table{vocab: 20}, 1, b)), c.want)
	}
	broken := errors.New("no memory")
	if _, err := Search(context.Background(), &table{vocab: 20, fail: broken}, 1, NewBeam(4, nil)); !errors.Is(err, broken) {
		t.Errorf("error %v does not wrap the model's", err)
	}
	for _, trie := range []*docid.Trie{nil, trie} {
		if _, err := Search(context.Background(), &table{vocab: 20, eosBonus: math.NaN()}, 1, NewBeam(4, trie)); !errors.Is(err, ErrNaN) {
			t.Errorf("error %v, want %v", err, ErrNaN)
		}
	}
	if got, err := Search(context.Background(), &table{vocab: 20}, 0, NewBeam(4, nil)); err != nil || len(got) != 0 {
		t.Errorf("no queries: %v, %v", got, err)
	}
}
