package trec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestGradedQrels reads what it wrote, with documents that are not relevant, and finds each
// judgment, of few and of many.
func TestGradedQrels(t *testing.T) {
	var q Judgments
	var want []Judgment
	for query, n := range map[string]int{"few": 3, "many": 3 * manyJudgments} {
		for i := range n {
			want = append(want, Judgment{query, fmt.Sprint("d", i), i%4 - 1})
		}
	}
	for _, j := range want {
		if err := q.Judge(j.Query, j.Document, j.Grade); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := ReadQrels(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(read.Each); !slices.Equal(got, want) {
		t.Errorf("read %v\nwrote %v", got, want)
	}
	for _, j := range want {
		if grade, ok := read.Query(j.Query).Grade(j.Document); !ok || grade != j.Grade {
			t.Errorf("grade of %v is %d, %v", j, grade, ok)
		}
	}
	if n := read.Query("few").Relevant(); n != 1 {
		t.Errorf("%d of few are relevant", n)
	}
	if _, ok := read.Query("few").Grade("d9"); ok {
		t.Error("d9 was not judged")
	}
	if err := q.Judge("many", "d20", 1); err == nil {
		t.Error("judged twice")
	}
	if _, err := ReadQrels(strings.NewReader("q 0 d 1\nq 0 e high\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v", err)
	}
}
