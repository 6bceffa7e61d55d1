package collection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/scratch"
	"github.com/redsi/redsi/step"
)

// scratchOnly is a host of steps that need folders and nothing else.
type scratchOnly struct {
	step.Host
	scratch step.Scratch
}

func (h scratchOnly) Scratch() step.Scratch { return h.scratch }

// TestSorter: any order and any number of runs give the same bytes.
func TestSorter(t *testing.T) {
	host := scratchOnly{scratch: scratch.In(t.TempDir())}
	docs := make([]corpus.Document, 200)
	for i := range docs {
		docs[i] = corpus.Document{Doc: int32(i), Text: fmt.Sprintf("document %d", i)}
	}
	sorted := func(limit int, order []int) []byte {
		s := sorter{x: step.NewIO(context.Background(), nil, host, slog.New(slog.DiscardHandler), nil), limit: limit}
		for _, i := range order {
			if err := s.add(docs[i]); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		w, err := corpus.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.writeTo(w), w.Close()); err != nil {
			t.Fatal(err)
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
	rd, err := corpus.NewReader(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
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
