package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
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
		if left, _ := filepath.Glob(filepath.Join(s.dir, "run-*")); s.dir != "" && len(left) > 0 {
			t.Errorf("limit %d leaves %v", limit, left)
		}
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

// TestSorterMemory: the peak of a merge does not follow the number of runs, nor is a run's reader large.
func TestSorterMemory(t *testing.T) {
	s := Sorter{scratch: func() (string, error) { return t.TempDir(), nil }, limit: 1}
	const runs = 2 * fanIn
	var long bytes.Buffer // more than a block of the compression has, so that a reader needs its window
	for i := range 40_000 {
		fmt.Fprint(&long, i)
	}
	for i := range int32(runs) {
		errtest.None(t, s.Add(Document{Doc: i, Text: long.String()}))
	}
	w, err := NewWriter(io.Discard)
	errtest.None(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	errtest.None(t, s.WriteAll(w))
	runtime.ReadMemStats(&after)
	if merged := (runs - 2) / (fanIn - 1); s.made != runs+merged {
		t.Errorf("%d runs of %d are of a pass before the last, want %d", s.made-runs, s.made, merged)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / runs; each > 5<<20 {
		t.Errorf("a merge allocates %d bytes for each run", each)
	}
	errtest.None(t, w.Close())
}
