package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSorter: documents that wait in memory or on disk come in order, and twice the same is refused.
func TestSorter(t *testing.T) {
	for _, n := range []int{0, 3, 20_000} {
		want := make([]int32, n)
		s := NewSorter(func() (string, error) { return t.TempDir(), nil })
		for i, place := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
			want[i] = int32(i)
			testkit.None(t, s.Add(Document{Doc: int32(place), Title: "t", Text: fmt.Sprintf("text <%d>\n", place)}))
		}
		var b bytes.Buffer
		w, err := NewWriter(&b)
		testkit.None(t, err)
		testkit.None(t, errors.Join(s.WriteAll(w), w.Close()))
		if !bytes.Equal(b.Bytes(), write(t, want...)) {
			t.Errorf("%d documents are not in order", n)
		}
		if n == 3 {
			testkit.None(t, s.Add(Document{Doc: 1}))
			w, _ := NewWriter(&b)
			testkit.ErrSays(t, s.WriteAll(w), "document 1 after document 1")
		}
	}
	full := errors.New("no folder")
	s := NewSorter(func() (string, error) { return "", full })
	var err error
	for i := int32(0); err == nil; i++ {
		err = s.Add(Document{Doc: i, Text: "a text of a document"})
	}
	testkit.ErrIs(t, err, full)
}
