package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestSorter: any order and any number of runs give the same bytes.
func TestSorter(t *testing.T) {
	scratch := func() (string, error) { return os.MkdirTemp(t.TempDir(), "") }
	docs := make([]Document, 200)
	for i := range docs {
		docs[i] = Document{Doc: int32(i), Text: fmt.Sprintf("document %d", i)}
	}
	sorted := func(limit int, order []int) []byte {
		s := Sorter{scratch: scratch, limit: limit}
		for _, i := range order {
			errtest.None(t, s.Add(docs[i]))
		}
		var b bytes.Buffer
		w, err := NewWriter(&b)
		errtest.None(t, err)
		errtest.None(t, errors.Join(s.WriteAll(w), w.Close()))
		return b.Bytes()
	}
	r := rand.New(rand.NewPCG(1, 2))
	want := sorted(sortMemory, r.Perm(len(docs)))
	for _, limit := range []int{1, 100, 300, 2000, 1 << 20} {
		if got := sorted(limit, r.Perm(len(docs))); !bytes.Equal(got, want) {
			t.Errorf("limit %d: %d bytes, want %d", limit, len(got), len(want))
		}
	}
	rd, err := NewReader(bytes.NewReader(want))
	errtest.None(t, err)
	defer rd.Close()
	for i := range docs {
		if d, err := rd.Next(); err != nil || d != docs[i] {
			t.Fatalf("document %d: %+v, %v", i, d, err)
		}
	}
	if _, err := rd.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
