package metrics

import (
	"bytes"
	"math"
	"testing"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
)

// TestEqualsIRMeasures scores random runs as ir-measures does
// (tools/golden/metrics.py).
func TestEqualsIRMeasures(t *testing.T) {
	var want struct {
		Means   map[string]float64
		Queries map[string]map[string]float64
	}
	goldens.JSON(t, "testdata/random.json", &want)
	rankings := goldens.Read(t, "testdata/random.run", trec.ReadRun)
	judged := goldens.Read(t, "testdata/random.qrels", trec.ReadQrels)
	var metrics []Metric
	for name := range want.Means {
		m, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		metrics = append(metrics, m)
	}
	r, err := Scoring{Metrics: metrics, Mode: Raw}.Score(trec.Held(rankings), judged)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 120 || r.MissingQueries != 2 || len(want.Queries) < 100 {
		t.Errorf("%d queries, %d missing, %d golden", len(r.Rows), r.MissingQueries, len(want.Queries))
	}
	for i, m := range metrics {
		name := m.String()
		if math.Abs(r.Mean[i]-want.Means[name]) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, r.Mean[i], want.Means[name])
		}
		for _, row := range r.Rows {
			if got, w := row.Scores[i], want.Queries[row.Query][name]; math.Abs(got-w) > 1e-12 {
				t.Errorf("%s of %s = %v, want %v", name, row.Query, got, w)
			}
		}
	}

	// Written again, the files are the same bytes.
	var b bytes.Buffer
	if err := trec.WriteRun(&b, "golden", rankings, trec.EncodeName); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), goldens.Text(t, "testdata/random.run")) {
		t.Error("the run is written otherwise than it was read")
	}
	b.Reset()
	if err := judged.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), goldens.Text(t, "testdata/random.qrels")) {
		t.Error("the judgments are written otherwise than they were read")
	}
}
