package decode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSamplingAgainstTransformers: the tokens that may be drawn, and how often, are those
// of transformers' logits processors, however many candidates are asked for at first.
func TestSamplingAgainstTransformers(t *testing.T) {
	var golden struct {
		Logits  [][]float32
		Results []struct {
			Temperature float64
			TopK        int     `json:"top_k"`
			TopP        float64 `json:"top_p"`
			Rows        []map[string]float64
		}
	}
	goldens.JSON(t, "testdata/sampling.json", &golden)
	scores := &Table{Vocab: len(golden.Logits[0]), Queries: len(golden.Logits)}
	for _, row := range golden.Logits {
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(float64(v))
		}
		scores.Logits, scores.Norms = append(scores.Logits, row...), append(scores.Norms, float32(math.Log(sum)))
	}
	for _, r := range golden.Results {
		o := Sampling{Samples: 1, MaxTokens: 1, TopK: r.TopK, TopP: r.TopP, Temperature: r.Temperature}
		name := fmt.Sprintf("temperature %v, top_k %d, top_p %v", r.Temperature, r.TopK, r.TopP)
		got := testkit.Value(o.choices(scores, len(golden.Logits)))(t)
		for row, want := range r.Rows {
			sum := got[row].weight(o.Temperature)
			testkit.Is(t, len(got[row]), len(want), name, row)
			ranked := slices.Sorted(maps.Values(want))
			slices.Reverse(ranked)
			for i, c := range got[row] {
				w, ok := want[strconv.Itoa(int(c.Token))]
				if !ok && row == len(r.Rows)-1 { // of equal ones at the end of top_p any is left out
					w = ranked[i]
				}
				if p := got[row].at(i, o.Temperature) / sum; math.Abs(p-w) > 1e-6 {
					t.Errorf("%s, row %d, token %d: %.8f, want %.8f", name, row, c.Token, p, w)
				}
			}
		}
		few := func(c choices, n int) { // what is known of the first n candidates is true of all
			kept, ok := o.filter(c[:n:n], n == len(c))
			if all, _ := o.filter(c, true); ok && !reflect.DeepEqual(kept, all) {
				t.Errorf("%s: of %d candidates %d may be drawn, of all %d", name, n, len(kept), len(all))
			}
		}
		whole := testkit.Value(scores.Top(make([]float32, len(golden.Logits)), 1000, nil, nil))(t)
		for _, c := range whole {
			for n := 1; n <= len(c); n++ {
				few(c, n)
			}
		}
	}
}

// TestSampleIsAFunctionOfItsKey: a sample is the same whichever others are drawn with it.
func TestSampleIsAFunctionOfItsKey(t *testing.T) {
	o := Sampling{Samples: 5, MaxTokens: 7, TopK: 6, TopP: 0.95, Temperature: 1.3, Seed: 9, Start: 0, EOS: 1}
	draw := func(o Sampling, queries ...int) [][]Hypothesis {
		t.Helper()
		keys := lists.Map(queries, func(q int) uint64 { return uint64(q) })
		m := &renamed{table{seed: 3, vocab: 12, eosBonus: 0.5}, queries}
		return testkit.Value(Sample(context.Background(), m, keys, o))(t)
	}
	all := draw(o, 4, 7, 2)
	ended, lengths := 0, map[int]bool{}
	for i, q := range []int{4, 7, 2} {
		if alone := draw(o, q); !reflect.DeepEqual(alone[0], all[i]) {
			t.Errorf("query %d alone: %v, with others %v", q, alone[0], all[i])
		}
		fewer := o
		fewer.Samples = 2
		if first := draw(fewer, q); !reflect.DeepEqual(first[0], all[i][:2]) {
			t.Errorf("query %d: 2 samples are %v, the first of 5 %v", q, first[0], all[i][:2])
		}
		for _, h := range all[i] {
			end := slices.Index(h.Tokens, o.EOS)
			if end >= 0 && end != len(h.Tokens)-1 || end < 0 && len(h.Tokens) != o.MaxTokens {
				t.Errorf("query %d: tokens %v", q, h.Tokens)
			}
			if end >= 0 {
				ended++
			}
			lengths[len(h.Tokens)] = true
			m, score, last := &table{seed: 3, vocab: 12, eosBonus: 0.5}, 0.0, o.Start
			for step, token := range h.Tokens {
				score += float64(m.logProbs(q, step+1, last)[token])
				last = token
			}
			if math.Abs(score-h.Score) > 1e-5 {
				t.Errorf("query %d: score %v, want %v", q, h.Score, score)
			}
		}
	}
	testkit.That(t, ended != 0 && len(lengths) >= 3, ended, "samples have an end, of", len(lengths), "lengths")
	other := o
	other.Seed++
	if reflect.DeepEqual(draw(other, 4, 7, 2), all) {
		t.Error("the seed changes nothing")
	}
	o.TopK, o.TopP = 1, 1 // greedy
	for i, hs := range draw(o, 4, 7, 2) {
		for _, h := range hs {
			testkit.Deep(t, h.Tokens, hs[0].Tokens, i)
		}
	}
	bos, eos := int64(5), int64(1)
	o.ForcedBOS, o.ForcedEOS, o.MaxTokens = &bos, &eos, 3
	if h := draw(o, 4)[0][0]; h.Tokens[0] != 5 || h.Tokens[len(h.Tokens)-1] != 1 {
		t.Errorf("forced tokens: %v", h.Tokens)
	}
}

// renamed is a table that knows queries by their keys.
type renamed struct {
	table
	keys []int
}

func (m *renamed) Step(ctx context.Context, queries []int, tokens, parents []int32) (Scores, error) {
	return m.table.Step(ctx, lists.Map(queries, func(q int) int { return m.keys[q] }), tokens, parents)
}

// TestSampleFrequencies: tokens are drawn as often as they are probable.
func TestSampleFrequencies(t *testing.T) {
	m := &table{seed: 8, vocab: 6}
	const n = 20_000
	out := testkit.Value(Sample(context.Background(), m, []uint64{0}, Sampling{Samples: n, MaxTokens: 1, TopP: 1, Temperature: 1, Seed: 1, EOS: 1}))(t)
	met := make([]float64, m.vocab)
	for _, h := range out[0] {
		met[h.Tokens[0]]++
	}
	for token, p := range m.logProbs(0, 1, 0) {
		want := math.Exp(float64(p))
		if d := math.Abs(met[token]/n - want); d > 4*math.Sqrt(want*(1-want)/n) {
			t.Errorf("token %d: %.4f, want %.4f", token, met[token]/n, want)
		}
	}
}

func TestSamplingErrors(t *testing.T) {
	good := Sampling{Samples: 1, MaxTokens: 1, TopP: 1, Temperature: 1}
	for want, change := range map[string]func(*Sampling){
		"0 samples":         func(o *Sampling) { o.Samples = 0 },
		"at most 0 new":     func(o *Sampling) { o.MaxTokens = 0 },
		"top_k -1":          func(o *Sampling) { o.TopK = -1 },
		"top_p 0;":          func(o *Sampling) { o.TopP = 0 },
		"top_p 1.5":         func(o *Sampling) { o.TopP = 1.5 },
		"top_p NaN":         func(o *Sampling) { o.TopP = math.NaN() },
		"temperature 0;":    func(o *Sampling) { o.Temperature = 0 },
		"temperature +Inf;": func(o *Sampling) { o.Temperature = math.Inf(1) },
	} {
		o := good
		change(&o)
		testkit.ErrSays(t, testkit.Err(Sample(context.Background(), &table{vocab: 3}, []uint64{1}, o)), want)
	}
	failed := errors.New("the model failed")
	testkit.ErrIs(t, testkit.Err(Sample(context.Background(), &table{vocab: 3, fail: failed}, []uint64{1}, good)), failed)
}
