package docid

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestTitle: equal titles are numbered in document order, whatever made them equal; an
// identifier has at most that many tokens, and its text is what they spell.
func TestTitle(t *testing.T) {
	for _, c := range []struct {
		name         string
		most         int
		titles, want []string
		counts       TitleCounts
	}{
		{"as they are", 4, []string{"The Sea", " the  sea\n"}, []string{"The Sea", "the sea"}, TitleCounts{LargestGroup: 1}},
		{"equal", 4, []string{"sea", "hill", "sea", "sea"}, []string{"sea", "hill", "sea (2)", "sea (3)"}, TitleCounts{Numbered: 2, LargestGroup: 3}},
		{"a title that ends like a number", 4, []string{"sea (2)", "sea", "sea"}, []string{"sea (2)", "sea", "sea (3)"}, TitleCounts{Numbered: 1, LargestGroup: 2}},
		{"cut", 2, []string{"a b c", "a b d", "a b"}, []string{"a b", "a (2)", "a (3)"}, TitleCounts{Cut: 2, Numbered: 2, LargestGroup: 3}},
		{"no token for it", 4, []string{"a ?? b", "a b", "?", ""}, []string{"a b", "a b (2)", "untitled", "untitled (2)"}, TitleCounts{Unspelled: 2, Numbered: 2, LargestGroup: 2}},
		{"one token", 1, []string{"a", "b c"}, []string{"a", "b"}, TitleCounts{Cut: 1, LargestGroup: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &words{}
			set, counts, err := Title(KindTitle, names(len(c.titles)), c.titles, c.most, w)
			testkit.None(t, err)
			testkit.Deep(t, texts(set), c.want)
			testkit.Is(t, *counts, c.counts, "counts")
			for _, id := range set.Identifiers {
				if w.Decode(id.Tokens, true) != id.Text || len(id.Tokens) > c.most+1 || id.Tokens[len(id.Tokens)-1] != 1 {
					t.Errorf("%q is tokens %v, which spell %q", id.Text, id.Tokens, w.Decode(id.Tokens, true))
				}
			}
			testkit.None(t, testkit.Err(NewTrie(set.Sequences())))
		})
	}
}

// TestTitlesOfOneName are as many as there are documents: numbers are found at once.
func TestTitlesOfOneName(t *testing.T) {
	titles := slices.Repeat([]string{"sea"}, 20_000)
	set, _, err := Title(KindTitle, names(len(titles)), titles, 3, &words{})
	testkit.None(t, err)
	for i, id := range set.Identifiers[1:] {
		if id.Text != "sea ("+strconv.Itoa(i+2)+")" {
			t.Fatalf("document %d is %q", i+1, id.Text)
		}
	}
}

func TestTitleErrors(t *testing.T) {
	for _, c := range []struct {
		titles []string
		most   int
		want   string
	}{
		{[]string{"a"}, 0, "at most 0 tokens"},
		{[]string{"a", "a", "a b"}, 1, ""},
		{[]string{}, 3, "0 titles of 1 documents"},
	} {
		_, _, err := Title(KindTitle, names(max(1, len(c.titles))), c.titles, c.most, &words{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: error %v, want %q", c.titles, err, c.want)
		}
	}
	// numbers are several tokens here
	_, _, err := Title(KindTitle, names(2), []string{"a", "a"}, 1, letters{&words{}})
	testkit.ErrSays(t, err, `"page 1"`, "max_tokens")
}

// letters has a token for each letter.
type letters struct{ *words }

func (l letters) Pieces(text string) []int32 {
	return l.words.Pieces(strings.Join(strings.Split(text, ""), " "))
}

func (l letters) Decode(tokens []int32, skipSpecial bool) string {
	return strings.ReplaceAll(l.words.Decode(tokens, skipSpecial), " ", "")
}
