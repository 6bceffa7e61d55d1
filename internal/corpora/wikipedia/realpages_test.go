package wikipedia_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
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
	keys := map[nq.Split]map[string]bool{nq.Train: {}, nq.Dev: {}, "union": {}}
	lost := 0
	for i, h := range headers {
		key, ok := wikipedia.URLTitle(h.URL)
		if e, found := table.Lookup(wanted[i]); found {
			key = strconv.FormatUint(e.PageID, 10)
		} else {
			lost++
		}
		if !ok {
			t.Errorf("%s has no title", h.URL)
		}
		keys[h.Split][key] = true
		keys["union"][key] = true
	}
	if lost != 3 || len(headers) != 50 {
		t.Errorf("%d of %d records fall back", lost, len(headers))
	}
	if len(keys[nq.Train]) != 5 || len(keys[nq.Dev]) != 5 || len(keys["union"]) != 6 {
		t.Errorf("keys: train %d, dev %d, union %d", len(keys[nq.Train]), len(keys[nq.Dev]), len(keys["union"]))
	}
}
