package bm25

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// randomTexts have words of very different frequencies over several windows.
func randomTexts(r *rand.Rand, n, most int) []string {
	out := make([]string, n)
	for i := range out {
		words := make([]string, r.IntN(most+1))
		for k := range words {
			words[k] = fmt.Sprint("w", int(math.Pow(r.Float64(), 4)*400))
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}

// TestFew: the first few hits are the first hits of a search that keeps all, whatever it left out, in
// every formula, and the same from any number of searchers.
func TestFew(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	documents, queries := randomTexts(r, 3*window+77, 6), randomTexts(r, 40, 7)
	for _, o := range []Options{
		{Formula: Lucene, K1: 0.9, B: 0.4, LuceneLengths: true}, {Formula: Lucene, K1: 1.5, B: 0.75}, {Formula: Robertson, K1: 1.2, B: 0.75},
		{Formula: ATIRE, K1: 1.5, B: 0.75}, {Formula: Plus, K1: 1.5, B: 0.75, Delta: 1}, {Formula: Plus, K1: 1.5, B: 0.75, Delta: 1, Absent: true},
		{Formula: Long, K1: 1.5, B: 0.75, Delta: 0.5}, {Formula: Long, K1: 1.5, B: 1, Delta: 0.5, Absent: true},
		{Formula: Okapi, K1: 1.5, B: 0.75}, {Formula: Lucene, K1: 0, B: 0}, {Formula: Lucene, K1: 0, B: 0, LuceneLengths: true},
	} {
		ix := indexOf(t, Whitespace{}, documents, o)
		all := testkit.Value(ix.SearchAll(context.Background(), queries, len(documents)))(t)
		for _, depth := range []int{1, 10, 100} {
			few := testkit.Value(ix.SearchAll(context.Background(), queries, depth))(t)
			for i := range queries {
				if want := all[i][:min(depth, len(all[i]))]; !slices.Equal(few[i], want) {
					t.Fatalf("%+v, %d of query %q: %v\nwant %v", o, depth, queries[i], few[i], want)
				}
			}
		}
	}
}

// TestNegative: rank_bm25's floor may be below 0, and so may scores.
func TestNegative(t *testing.T) {
	ix := indexOf(t, Whitespace{}, []string{"a b c", "a b", "a a b c", ""}, Options{Formula: Okapi, K1: 1.5, B: 0.75})
	got := ix.NewSearcher().Search("a", 2)
	testkit.That(t, len(got) == 2 && got[0].Score < 0 && got[0].Score >= got[1].Score, got)
	all := ix.NewSearcher().Search("a", 9)
	testkit.That(t, len(all) == 3 && slices.Equal(all[:2], got), got, "of", all)
}

func TestLengthByte(t *testing.T) {
	for _, c := range []struct{ length, want uint32 }{{0, 0}, {23, 23}, {39, 39}, {40, 40}, {41, 40}, {42, 42}, {55, 54}, {56, 56}, {59, 56}, {1000, 984}, {math.MaxInt32, 2013265944}} {
		testkit.Is(t, lengthOf(lengthByte(c.length)), c.want, c.length)
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"byte":  {Formula: ATIRE, LuceneLengths: true},
		"lacks": {Formula: Lucene, Absent: true},
	} {
		testkit.ErrSays(t, o.Check(), want)
	}
	testkit.Some(t, testkit.Err(NewBuilder(nil, Whitespace{}).Finish(Options{Formula: Lucene})), "an index of nothing")
	testkit.ErrSays(t, testkit.Err(Words(true, "klingon")), "english")
}

// TestDiskFails: an index whose postings found no room on disk is none.
func TestDiskFails(t *testing.T) {
	full := errors.New("the disk is full")
	b := NewBuilder(func() (string, error) { return "", full }, Whitespace{})
	for i := range 20_000 {
		testkit.None(t, b.Add(fmt.Sprintf("a b %d", i)))
	}
	if _, err := b.Finish(Options{Formula: Lucene}); !errors.Is(err, full) || !errors.Is(b.Err(), full) {
		t.Errorf("%v, %v", err, b.Err())
	}
}
