package docid

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// digits is a tokenizer of one token per digit and </s>: 10+d …, 1.
func digits(texts []string) [][]int32 {
	out := make([][]int32, len(texts))
	for i, t := range texts {
		for _, c := range t {
			out[i] = append(out[i], 10+c-'0')
		}
		out[i] = append(out[i], 1)
	}
	return out
}

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("page %d", i)
	}
	return out
}

func texts(s *Set) []string {
	out := make([]string, len(s.Identifiers))
	for i, id := range s.Identifiers {
		out[i] = id.Text
	}
	return out
}

func TestAtomic(t *testing.T) {
	for _, c := range []struct {
		documents int
		first     int32
		eos       []int32
		last      string
		tokens    []int32
	}{
		{1, FirstAtomicToken, nil, "<doc_0>", []int32{32_100}},
		{10, FirstAtomicToken, nil, "<doc_9>", []int32{32_109}},
		{11, 50_265, []int32{2}, "<doc_10>", []int32{50_275, 2}},
		{109_739, FirstAtomicToken, []int32{1}, "<doc_109738>", []int32{32_100 + 109_738, 1}},
	} {
		s, err := Atomic(names(c.documents), c.first, c.eos...)
		testkit.None(t, err)
		last := s.Identifiers[c.documents-1]
		if last.Text != c.last || !slices.Equal(last.Tokens, c.tokens) || last.Document != fmt.Sprintf("page %d", c.documents-1) {
			t.Errorf("the last of %d documents is %+v, want %s, %v", c.documents, last, c.last, c.tokens)
		}
		if first := s.Identifiers[0]; first.Tokens[0] != c.first || len(first.Text) != len(c.last) {
			t.Errorf("the first of %d documents is %+v", c.documents, first)
		}
		if first, end := s.TokenRange(); first != c.first || end != c.tokens[0] {
			t.Errorf("tokens from %d to %d", first, end)
		}
		testkit.None(t, testkit.Err(NewTrie(s.Sequences())))
	}
	testkit.ErrSays(t, testkit.Err(Atomic([]string{"a", "b"}, 1<<31-2)), "do not fit")
	testkit.ErrSays(t, testkit.Err(Atomic([]string{"a", "b", "a"}, 0)), `document "a" occurs twice`)
}

func TestNaive(t *testing.T) {
	docs := names(500)
	for _, c := range []struct {
		generator Generator
		budgets   []uint64
	}{
		{GeneratorPython, []uint64{500, 501, 4_096, 320_000}},
		{GeneratorPCG, []uint64{500, 501, 4_096, 320_000, 1 << 63}},
	} {
		for _, budget := range c.budgets {
			s, err := Naive(docs, budget, 42, c.generator, digits)
			testkit.None(t, err)
			for i, id := range s.Identifiers {
				var n uint64
				if _, err := fmt.Sscan(id.Text, &n); err != nil || n >= budget || fmt.Sprint(n) != id.Text || id.Document != docs[i] {
					t.Fatalf("%s, budget %d: %+v", c.generator, budget, id)
				}
			}
			// The head of a longer collection keeps its numbers: documents that are
			// added at the end change nothing before them.
			if head, err := Naive(docs[:100], budget, 42, c.generator, digits); err != nil || !slices.Equal(texts(head), texts(s)[:100]) {
				t.Errorf("%s, budget %d: the first 100 documents alone differ, %v", c.generator, budget, err)
			}
			if other, err := Naive(docs, budget, 43, c.generator, digits); err != nil || slices.Equal(texts(other), texts(s)) {
				t.Errorf("%s, budget %d: seeds 42 and 43 agree, %v", c.generator, budget, err)
			}
		}
	}
	for _, c := range []struct {
		budget    uint64
		generator Generator
		want      string
	}{
		{499, GeneratorPython, "a budget of 499 is too small for 500 documents"},
		{1 << 32, GeneratorPython, "generator python holds all numbers in memory, at most 4294967295"},
		{500, "numpy", `generator "numpy", want python or pcg`},
	} {
		testkit.ErrSays(t, testkit.Err(Naive(docs, c.budget, 42, c.generator, digits)), c.want)
	}
}

func TestCheckNamesBothDocuments(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []Identifier
		want string
	}{
		{"texts", []Identifier{{"a", "1", []int32{1}}, {"b", "2", []int32{2}}, {"c", "1", []int32{3}}}, `documents "a" and "c" both have "1"`},
		{"tokens", []Identifier{{"a", "1", []int32{7, 1}}, {"b", "01", []int32{7, 1}}}, `"1" of document "a" and "01" of document "b" have the same tokens 7 1`},
		{"none", []Identifier{{"a", "1", nil}}, `"1" of document "a" has no tokens`},
		{"document", []Identifier{{"a", "1", []int32{1}}, {"a", "2", []int32{2}}}, `document "a" occurs twice`},
	} {
		testkit.ErrSays(t, (&Set{Kind: KindNaive, Identifiers: c.ids}).Check(), c.want)
	}
	short := func([]string) [][]int32 { return nil }
	testkit.ErrSays(t, testkit.Err(Naive(names(2), 2, 1, GeneratorPython, short)), "0 results for 2 texts")
}

func TestStatistics(t *testing.T) {
	s := &Set{Kind: KindNaive, Identifiers: []Identifier{{"a", "0", []int32{3, 632, 1}}, {"b", "1", []int32{209, 1}}, {"c", "305", []int32{3, 26724, 1}}}}
	got, err := s.Statistics()
	testkit.None(t, err)
	want := Statistics{Kind: KindNaive, Identifiers: 3, MinTokens: 2, MaxTokens: 3, MeanTokens: 8.0 / 3, Lengths: []int{0, 0, 1, 2}, FirstTokens: 2, Vocabulary: 5, Prefixes: 7}
	testkit.Is(t, fmt.Sprint(got), fmt.Sprint(want), got, want)
	if got, err := (&Set{Kind: KindAtomic}).Statistics(); err != nil || got.MeanTokens != 0 {
		t.Errorf("an empty set: %+v, %v", got, err)
	}
}
