package qrels

import (
	"bytes"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]Judgment{
		"3 0 D312959 1":       {"3", "D312959", 1},
		" q1\t0\td%201\t-2\r": {"q1", "d 1", -2},
		"19335 Q0 D1 3":       {"19335", "D1", 3},
	} {
		if got, err := parse(Fields(line)); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", line, got, err, want)
		}
	}
	for line, want := range map[string]string{
		"":          "0 fields, want 4",
		"q 0 a":     "3 fields, want 4",
		"q 0 a yes": `relevance "yes"`,
		"q 0 %q 1":  `name "%q"`,
		"%q 0 a 1":  `name "%q"`,
	} {
		if _, err := parse(Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
	}
}

// FuzzParse reads lines of anybody's judgments: what is read and written reads
// the same again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"q1 0 d1 1", "", "q 0 d x", "q%20a 0 d%0A 1", "a\t0\tb\t1\r", "3 0 D312959 0", "! 0 !a 1", "q 0 %00 9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		j, err := parse(Fields(line))
		if err != nil {
			return
		}
		var q Judgments
		if err := q.Add(j.Query, j.Document); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var b bytes.Buffer
		if err := q.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := parse(Fields(strings.TrimSuffix(b.String(), "\n")))
		if want := (Judgment{j.Query, j.Document, 1}); err != nil || again != want {
			t.Fatalf("%q is written as %q, which reads as %+v, %v", line, b.String(), again, err)
		}
	})
}
