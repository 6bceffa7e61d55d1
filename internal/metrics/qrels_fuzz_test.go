package metrics

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzReadQrels reads judgments in TREC's form: what is read and written reads the
// same again.
func FuzzReadQrels(f *testing.F) {
	for _, s := range []string{"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n", "", "q 0 d x\n", "q%20a 0 d%0A 1\n", "a\t0\tb\t1\r\n", "q 0 d 1\nq 0 d 1\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		q, _, err := ReadQrels(strings.NewReader(in))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := q.Write(&first); err != nil {
			t.Fatalf("%q is read but not written: %v", in, err)
		}
		written := first.String()
		back, left, err := ReadQrels(&first)
		if err != nil || left != 0 {
			t.Fatalf("%q is written as %q, which does not read: %v, %d left out", in, written, err, left)
		}
		if err := back.Write(&second); err != nil || second.String() != written {
			t.Fatalf("%q is written as %q, then as %q", in, written, second.String())
		}
	})
}
