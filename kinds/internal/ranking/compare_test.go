package ranking

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// TestTurned: from the other side differences change their signs, and so does t; W, the smaller
// of two sums, does not.
func TestTurned(t *testing.T) {
	for isT, want := range map[bool]float64{true: -12, false: 12} {
		statistic, d := 12.0, 0.3
		v := comparison{Difference: 1, Low: -1, High: 3, Statistic: &statistic, EffectSize: &d, Wins: 4, Losses: 2}.turned(isT)
		if *v.Statistic != want || *v.EffectSize != -0.3 || v.Difference != -1 || v.Low != -3 || v.High != 1 || v.Wins != 2 || v.Losses != 4 {
			t.Errorf("t %v: %+v, statistic %v, d %v", isT, v, *v.Statistic, *v.EffectSize)
		}
	}
	if v := (comparison{}).turned(true); v.Statistic != nil || v.EffectSize != nil {
		t.Errorf("%+v", v)
	}
}

// TestNamesWithDots: a system may be named as its version is, or the value of its parameter.
func TestNamesWithDots(t *testing.T) {
	c := compareConfig{Systems: map[string]step.Input{"b=0.4": {}, "k.v": {}}, Baselines: []string{"b=0.4"}, Measures: []string{"nDCG@10"}}
	for _, path := range []string{"systems.'k.v'.percent.ndcg_10", "systems.'k.v'.against.'b=0.4'.ndcg_10.difference"} {
		errtest.None(t, errtest.Of(c.declares()["report"].At(path)))
	}
}

func TestQueryTable(t *testing.T) {
	list, err := metrics.ParseAll("nDCG(dcg='exp-log2')@10", "AP(rel=2)")
	errtest.None(t, err)
	want := queryTable{Metrics: list, Rows: []metrics.QueryScore{{Query: "q 1", Scores: []float64{1. / 3, 0}}, {Query: "q2", Scores: []float64{1, 1e-9}}}}
	var b strings.Builder
	errtest.None(t, want.write(&b))
	if text := b.String(); text != "query\tnDCG(dcg='exp-log2')@10\tAP(rel=2)\nq%201\t0.3333333333333333\t0\nq2\t1\t1e-09\n" {
		t.Errorf("wrote %q", text)
	}
	got, err := readQueryTable(strings.NewReader(b.String()))
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                          "they have no query",
		"query\tAP\n":               "they have no query",
		"q\tAP\n":                   "line 1: want \"query\"",
		"query\tGain\nq\t1\n":       `line 1: metric "Gain" is unknown`,
		"query\tAP\tmap\nq\t1\t1\n": "line 1: AP occurs twice",
		"query\tAP\nq\t1\nq\t1\n":   `line 3: query "q" is on line 2 already`,
		"query\tAP\nq\thigh\n":      `line 2: value "high"`,
		"query\tAP\nq\t1\t2\n":      "line 2: 3 fields, want 2",
		"query\tAP\n%zz\t1\n":       `line 2: name "%zz"`,
	} {
		errtest.Says(t, errtest.Of(readQueryTable(strings.NewReader(text))), want)
	}
}
