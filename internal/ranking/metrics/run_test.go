package metrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/qrels"
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
	rankings, err := ReadRun(open("random.run"))
	if err != nil {
		t.Fatal(err)
	}
	judged, err := qrels.Read(open("random.qrels"))
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
	if err := WriteRun(&b, "golden", rankings); err != nil {
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

func TestRun(t *testing.T) {
	in := []Ranking{
		{"-2692360962974527758", []Hypothesis{{"p:1", "", -0.125}, {"t:It Takes\u00a0a\tVillage", "", -0.25}, {"", "141 9", -0.25}, {"p:1", "", -0.5}, {"!x", "", -1e-30 - 1}, {"", "", math.Inf(-1)}}},
		{"who sings? 100%", []Hypothesis{{"\xff\ufffd", "", 3}}},
	}
	var b bytes.Buffer
	if err := WriteRun(&b, "redsi", in); err != nil {
		t.Fatal(err)
	}
	want := `-2692360962974527758 Q0 p:1 1 -0.125 redsi
-2692360962974527758 Q0 t:It%20Takes%C2%A0a%09Village 2 -0.25 redsi
-2692360962974527758 Q0 !3:141%209 3 -0.25 redsi
-2692360962974527758 Q0 !4=p:1 4 -0.5 redsi
-2692360962974527758 Q0 %21x 5 -1 redsi
-2692360962974527758 Q0 !6: 6 -Inf redsi
who%20sings?%20100%25 Q0 %FF%EF%BF%BD 1 3 redsi
`
	if b.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", b.String(), want)
	}
	got, err := ReadRun(&b)
	if err != nil || !reflect.DeepEqual(got, in) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestRunErrors(t *testing.T) {
	for in, want := range map[string]string{
		"q Q0 a 1 0.5\n":                             "line 1: 5 fields, want 6",
		"q Q0 a one 0.5 t\n":                         `line 1: rank "one"`,
		"q Q0 a 1 0.5 t\nq Q0 b 1 0.4 t\n":           `line 2: rank "1"; ranks of a query must rise`,
		"q Q0 a 1 x t\n":                             `score "x" is not a number`,
		"q Q0 a 1 NaN t\n":                           `score "NaN" is not a number`,
		"q Q0 a 1 0.5 t\nq Q0 b 2 0.6 t\n":           "line 2: score 0.6 at rank 2",
		"q Q0 a 1 0.5 t\n\nq Q0 a 2 0.4 t\n":         `line 3: document "a" is on line 1 already`,
		"q Q0 a 1 1 t\nr Q0 a 1 1 t\nq Q0 b 2 0 t\n": `line 3: query "q" began on line 1`,
		"q Q0 %zz 1 1 t\n":                           `name "%zz"`,
		"%zz Q0 a 1 1 t\n":                           `name "%zz"`,
		"q Q0 !a 1 1 t\n":                            "neither !POSITION:TEXT nor !POSITION=DOCUMENT",
		"q Q0 !1= 1 1 t\n":                           "neither !POSITION:TEXT nor",
		"q Q0 !1=a 1 1 t\n":                          `line 1: document "a" does not appear above`,
		strings.Repeat("x", 2<<20):                   "line 1: 1 fields, want 6",
	} {
		if _, err := ReadRun(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %q", in, err, want)
		}
	}
	for _, c := range []struct {
		tag      string
		rankings []Ranking
		want     string
	}{
		{"two words", nil, "want one word"},
		{"", nil, "want one word"},
		{"t", []Ranking{beam("")}, "no query"},
		{"t", []Ranking{beam("q"), beam("q")}, "two rankings"},
		{"t", []Ranking{{"q", []Hypothesis{{"a", "", 1}, {"b", "", 2}}}}, "position 2 has score 2 after 1"},
		{"t", []Ranking{{"q", []Hypothesis{{"a", "", math.NaN()}}}}, "position 1 has score NaN"},
	} {
		if err := WriteRun(&bytes.Buffer{}, c.tag, c.rankings); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if err := WriteRun(brokenWriter{}, "t", []Ranking{beam("q", "a")}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a broken writer: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func FuzzReadRun(f *testing.F) {
	f.Add("q Q0 p:1 1 -0.125 t\nq Q0 !2:14%209 2 -0.25 t\nq Q0 !3=p:1 3 -0.5 t\n")
	f.Add("q\u00a0Q0 %21x 4 -Inf t\r\n\nr Q0 %FF 0 1e300 t")
	f.Fuzz(func(t *testing.T, in string) {
		rankings, err := ReadRun(strings.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteRun(&b, "t", rankings); err != nil {
			t.Fatalf("%q: read but not written: %v", in, err)
		}
		again, err := ReadRun(&b)
		if err != nil || !reflect.DeepEqual(again, rankings) {
			t.Fatalf("%q: read %+v, then %+v, %v", in, rankings, again, err)
		}
	})
}
