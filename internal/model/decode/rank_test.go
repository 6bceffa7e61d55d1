package decode

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestRank: of hypotheses for one document the first counts, before ranks are given;
// those that are not an identifier keep their place, each of them.
func TestRank(t *testing.T) {
	documents := map[int32]int{5: 0, 6: 1, 7: 0, 8: 2} // two spellings of document 0
	find := func(tokens []int32) (int, bool) {
		d, ok := documents[tokens[0]]
		return d, ok
	}
	hypothesis := func(token int32, score float64) Hypothesis {
		return Hypothesis{Tokens: []int32{token, 1}, Score: score}
	}
	got := Rank([]Hypothesis{hypothesis(6, -1), hypothesis(9, -2), hypothesis(5, -3), hypothesis(9, -4), hypothesis(7, -5), hypothesis(6, -6), hypothesis(8, -7)}, find)
	one, zero, two := Ranked{1, -1, []int32{6, 1}}, Ranked{0, -3, []int32{5, 1}}, Ranked{2, -7, []int32{8, 1}}
	want := Result{Ranking: []Ranked{one, {-1, -2, []int32{9, 1}}, zero, {-1, -4, []int32{9, 1}}, two}, Invalid: 2}
	testkit.Deep(t, got, want)
	testkit.Deep(t, got.Valid(), []Ranked{one, zero, two}, "valid")
	if none := Rank(nil, find); len(none.Ranking) != 0 || none.Invalid != 0 || len(none.Valid()) != 0 {
		t.Errorf("of nothing: %+v", none)
	}
}
