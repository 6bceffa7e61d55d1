package wikipedia_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/redsi/redsi/internal/nq"
	"github.com/redsi/redsi/internal/wikipedia"
)

// TestRealPages resolves the records of the real pages through their stub: 12 of
// 13 revisions are in it, three records fall back, and train, dev and their union
// have 5, 5 and 6 PageID keys; two independent programs counted the same.
func TestRealPages(t *testing.T) {
	var headers []nq.Header
	var wanted []uint64
	for file, split := range map[string]nq.Split{"real-pages-train-full": nq.Train, "real-pages-dev-full": nq.Dev} {
		f, err := os.Open("../nq/testdata/" + file + ".jsonl.gz")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rd := nq.NewReader(f, file, nq.Options{Split: split})
		for {
			var r nq.Record
			if err := rd.Next(&r); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			headers = append(headers, nq.HeaderOf(&r))
			id, err := wikipedia.OldID(r.URL)
			if err != nil {
				t.Fatal(err)
			}
			wanted = append(wanted, id)
		}
	}
	stub, err := os.ReadFile("testdata/real-pages-stub.xml.gz")
	if err != nil {
		t.Fatal(err)
	}
	table, stats, err := wikipedia.ScanStub(context.Background(), bytes.NewReader(stub), "stub", wikipedia.NewWanted(wanted), wikipedia.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 12 || stats.Found != 12 {
		t.Errorf("%d revisions found, want 12", table.Len())
	}
	r := wikipedia.NewResolver(table)
	keys := map[nq.Split]map[string]bool{nq.Train: {}, nq.Dev: {}, "union": {}}
	for _, h := range headers {
		ref, err := r.Resolve(h.ExampleID, h.URL)
		if err != nil {
			t.Fatal(err)
		}
		keys[h.Split][ref.Key()] = true
		keys["union"][ref.Key()] = true
	}
	s := r.Stats()
	if s.Revisions != 13 || s.ResolvedRevisions != 12 || s.FallbackRecords != 3 || s.Records != 50 {
		t.Errorf("%+v", s)
	}
	if len(keys[nq.Train]) != 5 || len(keys[nq.Dev]) != 5 || len(keys["union"]) != 6 {
		t.Errorf("keys: train %d, dev %d, union %d", len(keys[nq.Train]), len(keys[nq.Dev]), len(keys["union"]))
	}
	if a := r.Audit(); len(a) != 1 || len(a[0].ExampleIDs) != 3 || a[0].Reason != wikipedia.NotInTable {
		t.Errorf("%+v", a)
	}
}
