package trec

import (
	"bytes"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestRun(t *testing.T) {
	in := []Ranking{
		{"-2692360962974527758", []Hypothesis{{"p:1", "", -0.125}, {"t:It Takes\u00a0a\tVillage", "", -0.25}, {"", "141 9", -0.25}, {"p:1", "", -0.5}, {"!x", "", -1e-30 - 1}, {"", "", math.Inf(-1)}}},
		{"who sings? 100%", []Hypothesis{{"\xff\ufffd", "", 3}}},
	}
	var b bytes.Buffer
	testkit.None(t, WriteRun(&b, "redsi", in, EncodeName))
	want := `-2692360962974527758 Q0 p:1 1 -0.125 redsi
-2692360962974527758 Q0 t:It%20Takes%C2%A0a%09Village 2 -0.25 redsi
-2692360962974527758 Q0 !3:141%209 3 -0.25 redsi
-2692360962974527758 Q0 !4=p:1 4 -0.5 redsi
-2692360962974527758 Q0 %21x 5 -1 redsi
-2692360962974527758 Q0 !6: 6 -Inf redsi
who%20sings?%20100%25 Q0 %FF%EF%BF%BD 1 3 redsi
`
	testkit.Is(t, b.String(), want, "wrote")
	got, err := ReadRun(&b)
	testkit.That(t, err == nil && reflect.DeepEqual(got, in), "read", got, err)
}

func TestRunErrors(t *testing.T) {
	for in, want := range map[string]string{
		"q Q0 a 1 0.5\n":                             "line 1: 5 fields, want 6",
		"q Q0 a one 0.5 t\n":                         `line 1: rank "one" is not an integer`,
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
		testkit.ErrSays(t, testkit.Err(ReadRun(strings.NewReader(in))), want)
	}
	for _, c := range []struct {
		tag      string
		rankings []Ranking
		want     string
	}{
		{"two words", nil, "want one word"},
		{"", nil, "want one word"},
		{"t", []Ranking{{}}, "no query"},
		{"t", []Ranking{{Query: "q"}, {Query: "q"}}, "two rankings"},
		{"t", []Ranking{{"q", []Hypothesis{{"a", "", 1}, {"b", "", 2}}}}, "position 2 has score 2 after 1"},
		{"t", []Ranking{{"q", []Hypothesis{{"a", "", math.NaN()}}}}, "position 1 has score NaN"},
	} {
		testkit.ErrSays(t, WriteRun(&bytes.Buffer{}, c.tag, c.rankings, EncodeName), c.want)
	}
	if err := WriteRun(brokenWriter{}, "t", []Ranking{{"q", []Hypothesis{{Document: "a"}}}}, EncodeName); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a broken writer: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }
