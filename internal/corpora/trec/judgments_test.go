package trec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestGradedQrels reads what it wrote, with documents that are not relevant, and finds each judgment, of few and of many.
func TestGradedQrels(t *testing.T) {
	var q Judgments
	var want []Judgment
	for query, n := range map[string]int{"few": 3, "many": 3 * manyJudgments} {
		for i := range n {
			want = append(want, Judgment{query, fmt.Sprint("d", i), i%4 - 1})
		}
	}
	for _, j := range want {
		testkit.None(t, q.Judge(j.Query, j.Document, j.Grade))
	}
	var b strings.Builder
	testkit.None(t, q.Write(&b))
	read, err := ReadQrels(strings.NewReader(b.String()))
	testkit.None(t, err)
	testkit.Deep(t, slices.Collect(read.Each), want)
	for _, j := range want {
		if grade, ok := read.Query(j.Query).Grade(j.Document); !ok || grade != j.Grade {
			t.Errorf("grade of %v is %d, %v", j, grade, ok)
		}
	}
	testkit.Is(t, read.Query("few").Relevant, 1)
	if _, ok := read.Query("few").Grade("d9"); ok {
		t.Error("d9 was not judged")
	}
	testkit.Some(t, q.Judge("many", "d20", 1), "judged twice")
	testkit.ErrSays(t, testkit.Err(ReadQrels(strings.NewReader("q 0 d 1\nq 0 e high\n"))), "line 2")
}
