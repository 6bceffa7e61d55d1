//go:build linux

package decode

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPerQuery: the estimate is no less than what decoding takes at its most, and at
// most twice that.
func TestPerQuery(t *testing.T) {
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 8000, 128, 32, 512, 2, 2, 4
	m := testkit.Value(seq2seq.Init(c, 3, tensor.CUDA(0)))(t)
	defer m.Close()
	x := testkit.Value(NewSearcher(m))(t)
	defer x.Close()
	r := testkit.Value(NewRanker(m, 0, c.VocabSize))(t)
	defer r.Close()
	ctx, queries := context.Background(), few(6, 16, 16)
	trie := trieOf(t, distinct(few(2000, 3, 3)))
	all, some := Sampling{Samples: 8, MaxTokens: 5, TopP: 1, Temperature: 1}, Sampling{Samples: 8, MaxTokens: 5, TopK: 10, TopP: 1, Temperature: 1}
	for name, of := range map[string]struct {
		load Load
		run  func() error
	}{
		"free":     {Load{Beams: 40, Tokens: 6}, func() error { return testkit.Err(x.Search(ctx, queries, NewBeam(6, nil), 6, nil)) }},
		"trie":     {Load{Beams: 40, Tokens: 6, Trie: trie}, func() error { return testkit.Err(x.Search(ctx, queries, NewBeam(6, trie), 6, nil)) }},
		"sampling": {Load{Beams: 8, Tokens: 5, Sorted: true}, func() error { return testkit.Err(x.Sample(ctx, queries, make([]uint64, 6), all, 6, nil)) }},
		"top k":    {Load{Beams: 8, Tokens: 5}, func() error { return testkit.Err(x.Sample(ctx, queries, make([]uint64, 6), some, 6, nil)) }},
		"atomic":   {Load{Beams: 1, Tokens: 1}, func() error { return testkit.Err(r.Rank(ctx, queries, 40, 6, nil)) }},
	} {
		of.load.Input = 16
		var n fakecard.Counts
		var estimate int64
		testkit.None(t, tensor.Try(func() {
			n = fakecard.Count(func() { testkit.None(t, of.run()) })
			estimate = PerQuery(m, of.load)
		}))
		t.Logf("%s: %d bytes a query, %d estimated", name, n.Peak/6, estimate)
		if peak := n.Peak / 6; estimate < peak || estimate > 2*peak {
			t.Errorf("%s: %d bytes a query, %d estimated", name, peak, estimate)
		}
	}
}

// distinct are different sequences with </s>.
func distinct(sequences [][]int32) (out [][]int32) {
	slices.SortFunc(sequences, slices.Compare)
	for _, s := range slices.CompactFunc(sequences, slices.Equal) {
		out = append(out, append(s, 1))
	}
	return out
}

func TestFit(t *testing.T) {
	m := load(t, "../t5/testdata/v1_0")
	tensortest.Run(t, func(*tensor.Scope) {
		l := Load{Beams: 40, Tokens: 6, Input: 8}
		one := PerQuery(m, l)
		for free, want := range map[int64]int{0: 1, one: 1, 10 * one: 8, 1 << 50: mostBatch} {
			testkit.Is(t, Fit(free, m, l), want, free, one)
		}
		if l.Beams = 80; PerQuery(m, l) < one*3/2 {
			t.Error("twice the beams take as much")
		}
	})
}

// TestAutomaticBatch: 0 queries together is for the card to say, not for a CPU.
func TestAutomaticBatch(t *testing.T) {
	g := readT5Golden(t)
	onCard(t, "../t5/testdata/v1_0", func(m *seq2seq.Model) {
		got := testkit.Value(find(context.Background(), m, g.Queries, NewBeam(6, nil), 0, nil))(t)
		want := testkit.Value(find(context.Background(), m, g.Queries, NewBeam(6, nil), unknownBatch, nil))(t)
		sameHypotheses(t, "together", got, want)
	})
}

// TestNoRoom: a part that a card has no room for is halved, and those after it, once;
// other errors are not.
func TestNoRoom(t *testing.T) {
	full := &tensor.Error{Op: "MatMul", Message: "CUDA out of memory. Tried to allocate 20.00 MiB."}
	m := load(t, "../t5/testdata/v1_0")
	queries := few(11, 3, 3)
	for i := range queries {
		for j := range queries[i] {
			queries[i][j] %= 100
		}
	}
	run := func(room int, failure error) (sizes []int, said []string, seen []int, err error) {
		o := &Searcher{m: m, card: &card{}, Warn: func(text string) { said = append(said, text) }}
		found, err := each(context.Background(), o, queries, 8, Load{Beams: 1, Tokens: 1}, nil, func(_ *session, part []int) ([]int, error) {
			if sizes = append(sizes, len(part)); len(part) > room {
				return nil, failure
			}
			seen = append(seen, part...)
			return part, nil
		})
		if err != nil && found != nil {
			t.Errorf("%v beside %v", found, err)
		}
		return sizes, said, seen, err
	}
	sizes, said, seen, err := run(4, full)
	slices.Sort(seen)
	if err != nil || !slices.Equal(sizes, []int{8, 4, 4, 3}) || len(said) != 1 || len(slices.Compact(seen)) != 11 || len(seen) != 11 {
		t.Errorf("%v, %v, %v, %v", sizes, said, seen, err)
	}
	if len(said) == 1 && !strings.Contains(said[0], "8 queries at a time; continuing with 4. Set batch") {
		t.Error(said)
	}
	if sizes, said, _, err = run(3, full); err == nil || !errors.Is(err, full) || !slices.Equal(sizes, []int{8, 4}) || len(said) != 1 {
		t.Errorf("no room for half: %v, %v, %v", sizes, said, err)
	}
	if sizes, said, _, err = run(4, ErrNaN); !errors.Is(err, ErrNaN) || len(sizes) != 1 || len(said) != 0 {
		t.Errorf("another error: %v, %v, %v", sizes, said, err)
	}
}
