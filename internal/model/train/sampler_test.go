package train

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestParseRatio(t *testing.T) {
	for text, want := range map[string]Ratio{"natural": Natural, "0:1": {0, 1}, "1:1": {1, 1}, "32:1": {32, 1}, "10:28": {10, 28}} {
		got, err := ParseRatio(text)
		testkit.That(t, err == nil && got == want && got.String() == text, "ParseRatio", text, got, err)
	}
	for _, text := range []string{"", "1", "1:0", "-1:1", "a:b", "1:1:1", "1.5:1", "1:2000000"} {
		testkit.ErrSays(t, testkit.Err(ParseRatio(text)), fmt.Sprintf("%q", text))
	}
}

func TestPermutation(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 16, 17, 100, 1023, 1024, 1025, 20000} {
		p, other := newPermutation(n, 1, 2), newPermutation(n, 1, 3)
		seen, same := make([]bool, n), 0
		for i := range n {
			e := p.at(i)
			if seen[e] {
				t.Fatalf("of %d, %d stands twice", n, e)
			}
			seen[e] = true
			if e == other.at(i) {
				same++
			}
		}
		if n >= 1000 && same > 20 {
			t.Errorf("of %d, %d have the same position under another key", n, same)
		}
	}
}

// TestPermutationIsUniform counts where each element comes over many keys.
func TestPermutationIsUniform(t *testing.T) {
	const n, keys = 10, 20000
	var counts [n][n]int
	for k := range keys {
		p := newPermutation(n, uint64(k))
		for i := range n {
			counts[i][p.at(i)]++
		}
	}
	chi := 0.0
	for i := range n {
		for e := range n {
			d := float64(counts[i][e]) - keys/n
			chi += d * d / (keys / n)
		}
	}
	// 81 degrees of freedom: mean 81, standard deviation 12.7.
	if chi > 81+5*12.7 {
		t.Errorf("χ² is %.1f of 81 degrees of freedom", chi)
	}
}

func examples(documents, queries int) *Data {
	d := &Data{}
	for i := range documents {
		d.Indexing = append(d.Indexing, Example{Input: []int32{5, int32(i), 1}, Target: []int32{int32(i), 1}})
	}
	for i := range queries {
		d.Retrieval = append(d.Retrieval, Example{Input: []int32{int32(i), 1}, Target: []int32{int32(i % documents), 7, 1}})
	}
	return d
}

// TestSampler counts what a pass holds.
func TestSampler(t *testing.T) {
	for _, c := range []struct {
		ratio                string
		documents, queries   int
		indexing             int
		fewest, most, differ int // of a document per pass; how many documents occur `most` times
	}{
		{"natural", 100, 280, 100, 1, 1, 100},
		{"0:1", 100, 280, 0, 0, 0, 100},
		{"1:1", 100, 280, 280, 2, 3, 80},
		{"32:1", 100, 280, 8960, 89, 90, 60},
		{"1:10", 100, 280, 28, 0, 1, 28},
		{"3:7", 10, 5, 2, 0, 1, 2},
	} {
		ratio := testkit.Value(ParseRatio(c.ratio))(t)
		s := testkit.Value(NewSampler(examples(c.documents, c.queries), ratio, 42, 16))(t)
		testkit.Is(t, s.Indexing(), c.indexing, c.ratio)
		testkit.Is(t, s.Pass(), c.indexing+c.queries, c.ratio)
		var passes [2][]Ref
		for pass := range passes {
			documents, queries := make([]int, c.documents), make([]int, c.queries)
			for i := range s.Pass() {
				r := s.At(int64(pass*s.Pass() + i))
				passes[pass] = append(passes[pass], r)
				if r.Indexing {
					documents[r.Index]++
				} else {
					queries[r.Index]++
				}
			}
			testkit.Is(t, slices.Min(queries), 1, c.ratio)
			testkit.Is(t, slices.Max(queries), 1, c.ratio)
			most := 0
			for _, n := range documents {
				if n == c.most {
					most++
				}
			}
			if slices.Min(documents) != c.fewest || slices.Max(documents) != c.most || most != c.differ {
				t.Errorf("%s: documents occur %d to %d times, %d of them most often", c.ratio, slices.Min(documents), slices.Max(documents), most)
			}
		}
		if slices.Equal(passes[0], passes[1]) {
			t.Errorf("%s: both passes have one order", c.ratio)
		}
	}
}

// TestRepeats: with repeats a pass has each document as often as they say.
func TestRepeats(t *testing.T) {
	d := examples(4, 9)
	d.Repeats = []int{3, 1, 5, 1}
	s, err := NewSampler(d, Ratio{1, 1}, 42, 16)
	if err != nil || s.Indexing() != 10 || s.Pass() != 19 {
		t.Fatalf("%+v, %v", s, err)
	}
	for pass := range int64(2) {
		documents, queries := make([]int, 4), make([]int, 9)
		for i := range int64(19) {
			if r := s.At(19*pass + i); r.Indexing {
				documents[r.Index]++
			} else {
				queries[r.Index]++
			}
		}
		if !slices.Equal(documents, d.Repeats) || slices.Min(queries) != 1 || slices.Max(queries) != 1 {
			t.Errorf("pass %d has documents %v, queries %v", pass, documents, queries)
		}
	}
	for _, ratio := range []Ratio{Natural, {32, 1}} {
		testkit.ErrSays(t, testkit.Err(NewSampler(d, ratio, 42, 16)), "repeats are for the ratio 1:1")
	}
}

// TestSamplerHasNoState asks for batches in any order.
func TestSamplerHasNoState(t *testing.T) {
	d := examples(30, 50)
	one, _ := NewSampler(d, Ratio{2, 1}, 1, 7)
	other, _ := NewSampler(d, Ratio{2, 1}, 1, 7)
	third, _ := NewSampler(d, Ratio{2, 1}, 2, 7)
	differ := false
	for step := range int64(50) {
		want := one.Batch(step)
		other.Batch((step * 31) % 50)
		testkit.Deep(t, other.Batch(step), want, step)
		differ = differ || !slices.Equal(third.Batch(step), want)
	}
	if !differ {
		t.Error("two seeds have one order")
	}
}

func TestSamplerMistakes(t *testing.T) {
	for _, c := range []struct {
		documents, queries int
		ratio              Ratio
		batch              int
		want               string
	}{
		{0, 0, Natural, 1, "nothing to train on"},
		{5, 0, Ratio{0, 1}, 1, "no"},
		{5, 0, Ratio{1, 1}, 1, "labeled queries"},
		{5, 5, Natural, 0, "batches of 0"},
	} {
		d := &Data{Indexing: make([]Example, c.documents), Retrieval: make([]Example, c.queries)}
		testkit.ErrSays(t, testkit.Err(NewSampler(d, c.ratio, 1, c.batch)), c.want)
	}
}

func TestDataMistakes(t *testing.T) {
	ok := Example{[]int32{3, 1}, []int32{4, 1}}
	for want, bad := range map[string]Example{
		"no input tokens":      {nil, []int32{1}},
		"no identifier tokens": {[]int32{1}, nil},
		"token 10":             {[]int32{1}, []int32{10}},
		"token -1":             {[]int32{-1}, []int32{1}},
	} {
		d := &Data{Indexing: []Example{ok}, Retrieval: []Example{ok, bad}}
		testkit.ErrSays(t, d.Check(10), "retrieval example 1 has "+want)
	}
}
