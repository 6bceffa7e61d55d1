package trec

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestReadQrels(t *testing.T) {
	for line, want := range map[string]Judgment{
		"3 0 D312959 1":       {"3", "D312959", 1},
		" q1\t0\td%201\t-2\r": {"q1", "d 1", -2},
		"19335 Q0 D1 3.0":     {"19335", "D1", 3},
	} {
		q, err := ReadQrels(strings.NewReader("# by hand\n\n" + line))
		if err != nil || !slices.Equal(slices.Collect(q.Each), []Judgment{want}) {
			t.Errorf("%q: %+v, %v; want %+v", line, q, err, want)
		}
	}
	for line, want := range map[string]string{
		"q 0 a":           "line 1: 3 fields, want 4",
		"q 0 a yes":       `grade "yes"`,
		"q 0 %q 1":        `name "%q"`,
		"%q 0 a 1":        `name "%q"`,
		"\nq 0 a 1\n#q 0": "",
		"#2 0 a 1":        `query "#2" begins with #`,
	} {
		if _, err := ReadQrels(strings.NewReader(line)); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
	}
}

// FuzzQrels reads anybody's judgments: judgments that were read and written read the same.
func FuzzQrels(f *testing.F) {
	for _, s := range []string{"q1 0 d1 1", "", "q 0 d x", "q%20a 0 d%0A 1", "a\t0\tb\t1\r\n# c\na 0 c 2", "! 0 !a 1", "q 0 %00 9", "%23 0 #a 1\n%23 0 %2523 0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ReadQrels(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		testkit.None(t, q.Write(&b))
		written := b.String()
		again, err := ReadQrels(&b)
		if err != nil || !slices.Equal(slices.Collect(again.Each), slices.Collect(q.Each)) {
			t.Fatalf("%q is written as %q, which reads as %+v, %v", text, written, again, err)
		}
	})
}

// FuzzReadRun: a run that was read and written reads the same.
func FuzzReadRun(f *testing.F) {
	f.Add("q Q0 p:1 1 -0.125 t\nq Q0 !2:14%209 2 -0.25 t\nq Q0 !3=p:1 3 -0.5 t\n")
	f.Add("q\u00a0Q0 %21x 4 -Inf t\r\n\nr Q0 %FF 0 1e300 t")
	f.Add("%23 Q0 #a 4 2 t\n# c\n%23 Q0 %23 5 2 t")
	f.Fuzz(func(t *testing.T, in string) {
		rankings, err := ReadRun(strings.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		testkit.None(t, WriteRun(&b, "t", rankings, EncodeName), in)
		again, err := ReadRun(&b)
		if err != nil || !reflect.DeepEqual(again, rankings) {
			t.Fatalf("%q: read %+v, then %+v, %v", in, rankings, again, err)
		}
	})
}
