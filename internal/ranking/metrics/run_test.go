package metrics

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/redsi/redsi/internal/corpora/trec"
)

// TestEqualsIRMeasures scores random runs as ir-measures does
// (tools/golden/metrics.py).
func TestEqualsIRMeasures(t *testing.T) {
	open := func(name string) *os.File {
		f, err := os.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	var want struct {
		Means   map[string]float64
		Queries map[string]map[string]float64
	}
	if err := json.NewDecoder(open("random.json")).Decode(&want); err != nil {
		t.Fatal(err)
	}
	rankings, err := trec.ReadRun(open("random.run"))
	if err != nil {
		t.Fatal(err)
	}
	judged, err := trec.ReadQrels(open("random.qrels"))
	if err != nil {
		t.Fatal(err)
	}
	var metrics []Metric
	for name := range want.Means {
		m, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		metrics = append(metrics, m)
	}
	r, err := Evaluate(metrics, Raw, rankings, judged)
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
	if whole, err := os.ReadFile("testdata/random.run"); err != nil || !bytes.Equal(b.Bytes(), whole) {
		t.Errorf("the run is written otherwise than it was read: %v", err)
	}
	b.Reset()
	if err := judged.Write(&b); err != nil {
		t.Fatal(err)
	}
	if whole, err := os.ReadFile("testdata/random.qrels"); err != nil || !bytes.Equal(b.Bytes(), whole) {
		t.Errorf("the judgments are written otherwise than they were read: %v", err)
	}
}
