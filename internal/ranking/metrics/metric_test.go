package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/system/testkit"
)

// beam builds a ranking of falling scores; "!x" is a hypothesis "x" without
// document.
func beam(query string, documents ...string) trec.Ranking {
	r := trec.Ranking{Query: query}
	for i, d := range documents {
		h := trec.Hypothesis{Document: d, Score: -float64(i)}
		if text, ok := strings.CutPrefix(d, "!"); ok {
			h.Document, h.Text = "", text
		}
		r.Hypotheses = append(r.Hypotheses, h)
	}
	return r
}

// TestByHand has its values from paper and pencil.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name     string
		beam     trec.Ranking
		relevant []string
		mode     Mode
		want     map[string]float64
	}{
		{"first", beam("q", "a", "b"), []string{"a"}, PostFiltered, map[string]float64{"Hits@1": 1, "MRR@10": 1, "Invalid@40": 0}},
		{"third", beam("q", "x", "y", "a"), []string{"a"}, PostFiltered, map[string]float64{"Hits@1": 0, "Hits@10": 1, "MRR@10": 1. / 3, "MRR@2": 0}},
		{"not found", beam("q", "x", "y"), []string{"a"}, PostFiltered, map[string]float64{"Hits@10": 0, "MRR@10": 0, "Recall@10": 0}},
		{"empty", beam("q"), []string{"a"}, PostFiltered, map[string]float64{"Hits@10": 0, "MRR@10": 0, "Invalid@40": 0}},
		{"rank 11", beam("q", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a"), []string{"a"}, PostFiltered, map[string]float64{"Hits@10": 0, "MRR@10": 0, "Recall@40": 1}},
		{"filtered", beam("q", "!7", "x", "!9", "a"), []string{"a"}, PostFiltered, map[string]float64{"Hits@1": 0, "MRR@10": 1. / 2, "Invalid@40": 2. / 40, "Invalid@4": 2. / 4, "Invalid@1": 1}},
		{"raw", beam("q", "!7", "x", "!9", "a"), []string{"a"}, Raw, map[string]float64{"Hits@1": 0, "MRR@10": 1. / 4, "MRR@3": 0, "Invalid@40": 2. / 40}},
		{"duplicates", beam("q", "x", "x", "x", "a", "a"), []string{"a"}, PostFiltered, map[string]float64{"MRR@10": 1. / 2, "Recall@2": 1}},
		{"duplicates, raw", beam("q", "!1", "x", "x", "!1", "a"), []string{"a"}, Raw, map[string]float64{"MRR@10": 1. / 5}},
		{"released", beam("q", "!7", "12", "1", "12", "2"), []string{"12"}, PostFiltered, map[string]float64{"Hits@1": 1, "MRR@10": 1, "Invalid@5": 1. / 5}},
		{"released, raw", beam("q", "!7", "12", "1", "12", "2"), []string{"12"}, Raw, map[string]float64{"Hits@1": 0, "MRR@10": 1. / 2}},
		{"two relevant", beam("q", "x", "b", "a"), []string{"a", "b", "c"}, PostFiltered, map[string]float64{"MRR@10": 1. / 2, "Recall@10": 2. / 3, "Recall@2": 1. / 3}},
		{"duplicates of a relevant one", beam("q", "a", "a"), []string{"a", "b"}, PostFiltered, map[string]float64{"Recall@10": 1. / 2}},
	} {
		judged := new(trec.Judgments)
		for _, d := range c.relevant {
			testkit.None(t, judged.Judge("q", d, 1))
		}
		for name, want := range c.want {
			m := testkit.Value(Parse(name))(t)
			r := testkit.Value(Scoring{Metrics: []Metric{m}, Mode: c.mode}.Score(trec.Held([]trec.Ranking{c.beam}), judged))(t)
			testkit.Is(t, r.Mean[0], want, c.name, name)
		}
	}
}

// TestMeans: a query without a ranking counts 0, and each has one at most.
func TestMeans(t *testing.T) {
	judged := new(trec.Judgments)
	for _, j := range [][2]string{{"q1", "a"}, {"q2", "b"}, {"q3", "c"}, {"q2", "d"}} {
		testkit.None(t, judged.Judge(j[0], j[1], 1))
	}
	score := func(rankings ...trec.Ranking) (*Scores, error) {
		return Scoring{Metrics: papers(), Mode: PostFiltered}.Score(trec.Held(rankings), judged)
	}
	r := testkit.Value(score(beam("q3", "!5", "c"), beam("q1", "a")))(t)
	want := []float64{2. / 3, 2. / 3, 2. / 3, 1. / 40 / 3}
	if len(r.Rows) != 3 || r.MissingQueries != 1 || !slices.EqualFunc(r.Mean, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
		t.Errorf("%+v, want %v", r, want)
	}
	if mean, n := r.MeanOf(func(q string) bool { return q != "q2" }); n != 2 || mean[0] != 1 || mean[3] != 1./80 {
		t.Errorf("of the ranked ones %v, %d", mean, n)
	}
	if mean, n := r.MeanOf(func(string) bool { return false }); mean != nil || n != 0 {
		t.Errorf("of none %v, %d", mean, n)
	}
	testkit.ErrSays(t, testkit.Err(score(beam("q1", "a"), beam("q1", "a"))), `query "q1" has two rankings`)
	if judged.Judge("q1", "a", 1) == nil || judged.Judge("", "a", 1) == nil || judged.Judge("q1", "", 1) == nil {
		t.Error("a wrong judgment was taken")
	}
}

// papers are the paper's metrics.
func papers() []Metric {
	return []Metric{{family: familyOf("Hits"), k: 1}, {family: familyOf("Hits"), k: 10}, {family: familyOf("MRR"), k: 10}, {family: familyOf("Invalid"), k: 40}}
}
