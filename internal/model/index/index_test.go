package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/testkit"
)

const vocabulary = 24

// model has random weights and rows for atomic identifiers.
func model(t *testing.T, documents int64) *seq2seq.Model {
	t.Helper()
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = vocabulary, 16, 8, 32, 1, 2, 2
	m := testkit.Value(seq2seq.Init(c, 3, tensor.CPU))(t)
	t.Cleanup(m.Close)
	if documents > 0 {
		testkit.None(t, m.Extend(documents, 5))
	}
	return m
}

var queries = [][]int32{{5, 6, 7, 1}, {1}, {9, 1}, {22, 3, 3, 8, 14, 2, 20, 1}, {4, 17, 1}, {9, 2, 1}, {13, 13, 13, 13, 13, 1}}

// atomic are n identifiers from a token on.
func atomic(n int, first int32, eos ...int32) *docid.Set {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	s, err := docid.Atomic(names, first, eos...)
	if err != nil {
		panic(err)
	}
	return s
}

// pairs are all sequences of one or two of a few tokens, and </s>.
func pairs() *docid.Set {
	s := &docid.Set{Kind: docid.KindNaive}
	add := func(tokens ...int32) {
		s.Identifiers = append(s.Identifiers, docid.Identifier{
			Document: fmt.Sprint(len(s.Identifiers)), Text: fmt.Sprint(tokens), Tokens: append(tokens, 1)})
	}
	for a := int32(4); a < 12; a++ {
		add(a)
		for b := int32(4); b < 9; b++ {
			add(a, b)
		}
	}
	return s
}

func index(t *testing.T, m *seq2seq.Model, ids *docid.Set) *Index {
	t.Helper()
	c := testkit.Value(NewCatalog(ids, nil))(t)
	return testkit.Value(New(m, c))(t)
}

func find(t *testing.T, x *Index, queries [][]int32, o retrieve.Options) []decode.Result {
	t.Helper()
	return testkit.Value(x.Search(context.Background(), queries, o, nil))(t)
}

// meanLogProb is the teacher-forced log-probability of tokens, by their number.
func meanLogProb(t *testing.T, m *seq2seq.Model, query, tokens []int32) float64 {
	t.Helper()
	loss := testkit.Value(m.Loss(seq2seq.Batch{Inputs: [][]int32{query}, Labels: [][]int32{tokens}}))(t)
	return -loss
}

func apart(a, b float64) bool { return math.Abs(a-b) > 1e-4 }

// TestAtomic: the ranking is the order of all documents' log-probabilities, which are
// normalized over documents.
func TestAtomic(t *testing.T) {
	const documents = 15
	m := model(t, documents)
	ids := atomic(documents, vocabulary)
	o := retrieve.Default()
	o.Width = 6
	found := find(t, index(t, m, ids), queries, o)
	for q, r := range found {
		want := make([]decode.Ranked, documents)
		sum := 0.0
		for d, id := range ids.Identifiers {
			want[d] = decode.Ranked{Document: d, Score: meanLogProb(t, m, queries[q], id.Tokens)}
			sum += math.Exp(want[d].Score)
		}
		slices.SortStableFunc(want, func(a, b decode.Ranked) int { return cmp.Compare(b.Score, a.Score) })
		if len(r.Ranking) != o.Width || r.Invalid != 0 {
			t.Fatalf("query %d: %+v", q, r)
		}
		for i, h := range r.Ranking {
			if h.Document != want[i].Document || apart(h.Score, want[i].Score-math.Log(sum)) {
				t.Errorf("query %d, rank %d: %+v, want %+v", q, i+1, h, want[i])
			}
		}
	}
	if again := find(t, index(t, m, atomic(documents, vocabulary, 1)), queries, o); !reflect.DeepEqual(again, found) {
		t.Error("documents whose identifiers end with </s> are ranked otherwise")
	}
	o.Constrained = true
	if again := find(t, index(t, m, ids), queries, o); !reflect.DeepEqual(again, found) {
		t.Error("constraining atomic identifiers changes their ranking")
	}
	o.Width = 100
	if all := find(t, index(t, m, ids), queries, o); len(all[0].Ranking) != documents {
		t.Errorf("%d documents of %d are ranked", len(all[0].Ranking), documents)
	}
}

// TestConstrained: with beams for all identifiers, every document is found once,
// by the score that teacher forcing gives it.
func TestConstrained(t *testing.T) {
	m, ids := model(t, 0), pairs()
	o := retrieve.Default()
	o.Constrained, o.EarlyStopping = true, stopping.Never
	o.Width = len(ids.Identifiers)
	for q, r := range find(t, index(t, m, ids), queries, o) {
		seen := map[int]bool{}
		for i, h := range r.Ranking {
			if h.Document < 0 || seen[h.Document] {
				t.Fatalf("query %d, rank %d: %+v", q, i+1, h)
			}
			seen[h.Document] = true
			id := ids.Identifiers[h.Document]
			if !slices.Equal(h.Tokens, id.Tokens) || apart(h.Score, meanLogProb(t, m, queries[q], id.Tokens)) {
				t.Errorf("query %d, rank %d: %+v, want %+v", q, i+1, h, id)
			}
			if i > 0 && h.Score > r.Ranking[i-1].Score {
				t.Errorf("query %d: rank %d is better than the one before it", q, i+1)
			}
		}
		if len(seen) != len(ids.Identifiers) || r.Invalid != 0 {
			t.Errorf("query %d: %d of %d documents are found", q, len(seen), len(ids.Identifiers))
		}
	}
	for _, width := range []int{1, 3, 10} { // fewer beams: still nothing but identifiers
		o.Width = width
		for q, r := range find(t, index(t, m, ids), queries, o) {
			if len(r.Valid()) != len(r.Ranking) || len(r.Ranking) == 0 || len(r.Ranking) > width {
				t.Errorf("%d beams, query %d: %+v", width, q, r)
			}
		}
	}
}

// TestUnconstrained: beams that hold everything find the identifiers among what is
// none, with the scores and in the order that the trie finds them.
func TestUnconstrained(t *testing.T) {
	m, ids := model(t, 0), pairs()
	x := index(t, m, ids)
	o := retrieve.Default()
	o.EarlyStopping, o.Width = stopping.Never, vocabulary*vocabulary*vocabulary
	free := find(t, x, queries, o)
	o.Constrained, o.Width = true, len(ids.Identifiers)
	along := find(t, x, queries, o)
	for q := range queries {
		valid := free[q].Valid()
		if free[q].Invalid == 0 || len(valid)+free[q].Invalid != len(free[q].Ranking) {
			t.Errorf("query %d: %d of %d hypotheses are invalid", q, free[q].Invalid, len(free[q].Ranking))
		}
		if len(valid) != len(along[q].Ranking) {
			t.Errorf("query %d: %d documents, %d with the trie", q, len(valid), len(along[q].Ranking))
			continue
		}
		for i, h := range valid {
			if w := along[q].Ranking[i]; h.Document != w.Document || apart(h.Score, w.Score) {
				t.Errorf("query %d, rank %d: %+v, with the trie %+v", q, i+1, h, w)
			}
		}
		for _, h := range free[q].Ranking {
			if len(h.Tokens) > 3 {
				t.Errorf("query %d: %v is longer than any identifier", q, h.Tokens)
			}
		}
	}
}

// TestSearchOfParts: what is found for a query does not depend on those beside it;
// its scores do by rounding, where they are decoded together.
func TestSearchOfParts(t *testing.T) {
	m := model(t, 15)
	for name, ids := range map[string]*docid.Set{"atomic": atomic(15, vocabulary), "naive": pairs()} {
		x := index(t, m, ids)
		for _, o := range []retrieve.Options{
			{Width: 10, LengthPenalty: 1, Search: retrieve.Search{EarlyStopping: stopping.Heuristic, Validity: retrieve.ByTokens}, Batch: 1},
			{Width: 10, LengthPenalty: 0, Search: retrieve.DefaultSearch(), Batch: 1, Constrained: true},
		} {
			var alone []decode.Result
			for q := range queries {
				alone = append(alone, find(t, x, queries[q:q+1], o)...)
			}
			done := 0
			whole, err := x.Search(context.Background(), queries, o, func(n int) { done = n })
			if err != nil || done != len(queries) || !reflect.DeepEqual(alone, whole) {
				t.Errorf("%s, %+v: one after another %+v, %v; alone %+v", name, o, whole, err, alone)
			}
			o.Batch = 3
			for q, r := range find(t, x, queries, o) {
				for i, h := range r.Ranking {
					if w := alone[q].Ranking[i]; h.Document != w.Document || !slices.Equal(h.Tokens, w.Tokens) || apart(h.Score, w.Score) {
						t.Errorf("%s, %+v, query %d, rank %d: %+v, alone %+v", name, o, q, i+1, h, w)
					}
				}
			}
		}
	}
}

func TestCatalogErrors(t *testing.T) {
	sequences := func(kind docid.Kind, all ...[]int32) *docid.Set {
		s := &docid.Set{Kind: kind}
		for i, tokens := range all {
			s.Identifiers = append(s.Identifiers, docid.Identifier{Document: fmt.Sprintf("d%d", i), Text: fmt.Sprint(i), Tokens: tokens})
		}
		return s
	}
	for _, c := range []struct {
		ids  *docid.Set
		want string
	}{
		{&docid.Set{Kind: docid.KindAtomic}, "no identifiers"},
		{&docid.Set{Kind: docid.KindSemantic}, "no identifiers"},
		{sequences(docid.KindAtomic, nil), `"d0" is tokens []`},
		{sequences(docid.KindAtomic, []int32{7}, []int32{8, 1}), `"d1" is tokens [8 1]; an atomic identifier is one token, with </s> if all have it`},
		{sequences(docid.KindAtomic, []int32{7, 1}, []int32{8}), `"d1" is tokens [8]`},
		{sequences(docid.KindAtomic, []int32{7, 1}, []int32{8, 2}), `"d1" is tokens [8 2]`},
		{sequences(docid.KindAtomic, []int32{7, 1, 1}), `"d0" is tokens [7 1 1]`},
		{sequences(docid.KindAtomic, []int32{7}, []int32{9}), `"d1" is token 9, not 8`},
		{sequences(docid.KindAtomic, []int32{7}, []int32{7}), `"d1" is token 7, not 8`},
		{sequences(docid.KindNaive, []int32{7, 1}, []int32{7, 1}), "sequences 0 and 1"},
		{sequences(docid.KindNaive, []int32{7}, []int32{7, 1}), "is a prefix of"},
		{sequences(docid.KindNaive, nil), "sequence 0 is empty"},
	} {
		testkit.ErrSays(t, testkit.Err(NewCatalog(c.ids, nil)), c.want)
	}
}

func TestSearchErrors(t *testing.T) {
	m := model(t, 0)
	x := index(t, m, pairs())
	for want, change := range map[string]func(*retrieve.Options){
		"width 0":        func(o *retrieve.Options) { o.Width = 0 },
		"batch -1":       func(o *retrieve.Options) { o.Batch = -1 },
		"early stopping": func(o *retrieve.Options) { o.EarlyStopping = "soon" },
		"length penalty": func(o *retrieve.Options) { o.LengthPenalty = math.NaN() },
	} {
		o := retrieve.Default()
		change(&o)
		testkit.ErrSays(t, testkit.Err(x.Search(context.Background(), queries, o, nil)), want)
	}
	for want, q := range map[string][]int32{"query 1 has no tokens": {}, "query 1 has token 24": {24, 1}, "query 1 has token -1": {-1}} {
		testkit.ErrSays(t, testkit.Err(x.Search(context.Background(), [][]int32{{5, 1}, q}, retrieve.Default(), nil)), want)
	}
	c := testkit.Value(NewCatalog(atomic(15, vocabulary), nil))(t)
	testkit.ErrSays(t, testkit.Err(New(m, c)), "was it extended for this collection?")
	ctx, cancel := context.WithCancel(context.Background())
	o := retrieve.Default()
	o.Batch = 1
	if _, err := x.Search(ctx, queries, o, func(int) { cancel() }); err != context.Canceled {
		t.Errorf("a cancelled search: %v", err)
	}
}
