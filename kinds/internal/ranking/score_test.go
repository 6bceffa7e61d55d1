package ranking

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestQueryTable(t *testing.T) {
	list := testkit.Value(metrics.ParseAll("nDCG(dcg='exp-log2')@10", "AP(rel=2)"))(t)
	want := queryTable{Metrics: list, Rows: []metrics.QueryScore{{Query: "q 1", Scores: []float64{1. / 3, 0}}, {Query: "q2", Scores: []float64{1, 1e-9}}}}
	var b strings.Builder
	testkit.None(t, want.write(&b))
	if text := b.String(); text != "query\tnDCG(dcg='exp-log2')@10\tAP(rel=2)\nq%201\t0.3333333333333333\t0\nq2\t1\t1e-09\n" {
		t.Errorf("wrote %q", text)
	}
	got, err := readQueryTable(strings.NewReader(b.String()))
	testkit.That(t, err == nil && reflect.DeepEqual(*got, want), "read", got, err)
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
		testkit.ErrSays(t, testkit.Err(readQueryTable(strings.NewReader(text))), want)
	}
}
