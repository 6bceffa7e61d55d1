package docid

import (
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestImported(t *testing.T) {
	w := &words{}
	sea := w.Pieces("deep sea")
	docs := []string{"0", "1", "2"}
	f, err := NewImported(KindOther, docs, []string{"D7", "D5", "D9"}, w, 100)
	testkit.None(t, err)
	for _, id := range []Foreign{
		{"a:1", "D5", "hill  top", nil},
		{"a:2", "D9", "", sea},
		{"b:1", "D7", "deep sea sea", append(slices.Clone(sea), sea[1], 1)},
	} {
		testkit.None(t, f.Add(id))
	}
	set, err := f.Set()
	testkit.None(t, err)
	want := []Identifier{
		{"0", "deep sea sea", []int32{sea[0], sea[1], sea[1], 1}},
		{"1", "hill top", w.WithSpecialTokens(w.Pieces("hill top"))},
		{"2", "deep sea", []int32{sea[0], sea[1], 1}},
	}
	for i, id := range set.Identifiers {
		if id.Document != want[i].Document || id.Text != want[i].Text || !slices.Equal(id.Tokens, want[i].Tokens) {
			t.Errorf("%+v, want %+v", id, want[i])
		}
	}
	f, err = NewImported(KindResidual, docs[:1], []string{"x"}, w, 100)
	if err == nil {
		err = f.Add(Foreign{"a:1", "x", "", []int32{200, 207}})
	}
	testkit.None(t, err)
	if set, err = f.Set(); err != nil || set.Identifiers[0].Text != "200-207" || !slices.Equal(set.Identifiers[0].Tokens, []int32{200, 207, 1}) {
		t.Errorf("%+v, %v", set, err)
	}
}

func TestForeignErrors(t *testing.T) {
	w := &words{}
	w.Pieces("deep sea")
	for _, c := range []struct {
		kind Kind
		ids  []Foreign
		want string
	}{
		{KindOther, []Foreign{{"f.tsv, line 1", "x", "a", nil}}, `f.tsv, line 1: "x" is not one of the 2 documents`},
		{KindOther, []Foreign{{"f:1", "a", "deep", nil}, {"g:4", "a", "sea", nil}}, `g:4: document "a" has an identifier at f:1 already`},
		{KindOther, []Foreign{{"f:1", "a", "deep", nil}, {"g:4", "b", " deep ", nil}}, `g:4: document "b" has the identifier "deep", as the one at f:1`},
		{KindOther, []Foreign{{"f:1", "a", "deep", nil}}, `1 of 2 documents have no identifier, the first is "b"`},
		{KindOther, []Foreign{{"f:1", "a", "deep ?sea", nil}}, `has no tokens for all of "deep ?sea"`},
		{KindOther, []Foreign{{"f:1", "a", " ", nil}}, "neither text nor tokens"},
		{KindOther, []Foreign{{"f:1", "a", "", []int32{}}}, "it has no tokens"},
		{KindOther, []Foreign{{"f:1", "a", "", []int32{1}}}, "it has no tokens"},
		{KindOther, []Foreign{{"f:1", "a", "", []int32{10, 1, 11}}}, "token 1, which ends an identifier"},
		{KindOther, []Foreign{{"f:1", "a", "", []int32{10, 100}}}, "token 100 is outside of the vocabulary of 100"},
		{KindOther, []Foreign{{"f:1", "a", "", []int32{-1}}}, "token -1 is outside"},
		{KindOther, []Foreign{{"f:1", "a", "", []int32{2}}}, "its tokens spell nothing"},
		{KindOther, []Foreign{{"f:1", "a", "sea", []int32{10}}}, `its tokens spell "deep", its text is "sea"`},
		{KindResidual, []Foreign{{"f:1", "a", "3-4", nil}}, "give their tokens"},
	} {
		f, err := NewImported(c.kind, []string{"0", "1"}, []string{"a", "b"}, w, 100)
		testkit.None(t, err)
		for _, id := range c.ids {
			if err == nil {
				err = f.Add(id)
			}
		}
		if err == nil {
			_, err = f.Set()
		}
		testkit.ErrSays(t, err, c.want)
	}
	testkit.ErrSays(t, testkit.Err(NewImported(KindOther, []string{"0", "1"}, []string{"a", "a"}, w, 100)), "by number")
	testkit.ErrSays(t, testkit.Err(NewImported(KindAtomic, nil, nil, w, 100)), "atomic identifiers of 0 documents with 0 names cannot be imported")
}
