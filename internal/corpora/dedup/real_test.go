package dedup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// bert is NCI's tokenize-and-decode.
var bert = sync.OnceValue(func() *tokenize.BERT {
	b, err := tokenize.NewBERT(tokenizers.BERTUncased)
	if err != nil {
		panic(err)
	}
	return b
})

// realHeaders reads the real pages; the texts are in the same order.
func realHeaders(t testing.TB, train string) (headers []nq.Header, texts []string) {
	t.Helper()
	for _, shard := range []struct {
		file  string
		split nq.Split
	}{{"real-pages-dev-full.jsonl.gz", nq.Dev}, {train, nq.Train}} {
		f, err := os.Open(filepath.Join("..", "nq", "testdata", shard.file))
		testkit.None(t, err)
		rd := nq.NewReader(f, shard.file, nq.Options{Split: shard.split})
		for {
			var r nq.Record
			if err := rd.Next(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			h := nq.HeaderOf(&r)
			h.Text4KCased, h.Text4K = TextKeys(&r, false)
			headers, texts = append(headers, h), append(texts, FlatText(&r, 0))
		}
		rd.Close()
		f.Close()
	}
	return headers, texts
}

func lookupIn(pages map[uint64]uint64) func(uint64) (uint64, bool) {
	return func(oldid uint64) (uint64, bool) {
		if p, ok := pages[oldid]; ok {
			return p, true
		}
		return 77, false // a number that means nothing
	}
}

// groupAll runs all headers through one pass.
func groupAll(t testing.TB, headers []nq.Header, keys []Key, o Options, s Sources) []*Grouping {
	t.Helper()
	g, err := NewGrouper(scratch(t), keys, o, s)
	testkit.None(t, err)
	var h nq.Header // one for all, as readers give it
	for _, h = range headers {
		testkit.None(t, g.Add(&h))
	}
	gs, err := g.Groupings()
	testkit.None(t, err)
	return gs
}

// The whole way on real pages: reader, text keys, stub scan, tokenizer, grouping. The counts were made by two independent programs.
func TestRealPagesCounts(t *testing.T) {
	want := map[string]Counts{
		"text4k": {Train: 10, Dev: 6, Union: 11}, "url": {Train: 10, Dev: 8, Union: 13},
		"url_title_cased": {Train: 5, Dev: 4, Union: 6}, "url_title": {Train: 5, Dev: 4, Union: 6},
		"h1": {Train: 5, Dev: 4, Union: 6}, "h1_cased": {Train: 5, Dev: 4, Union: 6}, "nci_h1": {Train: 5, Dev: 4, Union: 6}, "title": {Train: 5, Dev: 4, Union: 6},
		"page_id": {Train: 5, Dev: 5, Union: 6},
	}
	for _, train := range []string{"real-pages-train-full.jsonl.gz", "real-pages-train-simplified.jsonl.gz"} {
		t.Run(train, func(t *testing.T) {
			headers, _ := realHeaders(t, train)
			if len(headers) != 50 {
				t.Fatalf("%d headers", len(headers))
			}
			var wanted []uint64
			for _, h := range headers {
				id, err := wikipedia.OldID(h.URL)
				testkit.None(t, err)
				wanted = append(wanted, id)
			}
			stub := goldens.Text(t, "../wikipedia/testdata/real-pages-stub.xml.gz")
			table, _, err := wikipedia.ScanStub(t.Context(), bytes.NewReader(stub), "stub", lists.Set(wanted), nil)
			testkit.None(t, err)
			gs := groupAll(t, headers, PaperKeys(), Options{}, Sources{BertNormalize: bert().Normalize,
				PageID: func(oldid uint64) (uint64, bool) { e, ok := table.Lookup(oldid); return e.PageID, ok }})
			for _, g := range gs {
				w, ok := want[g.Key.Name]
				if c := g.Counts(); ok && c != w {
					t.Errorf("%s: %+v, want %+v", g.Key.Name, c, w)
				}
			}
			res := gs[0].Records.Resolution()
			if res.Revisions != 13 || res.Resolved != 12 || res.UnresolvedRecords != 3 || res.NoRevision != 0 {
				t.Errorf("resolution %+v", res)
			}
			titles, err := DiagnoseTitles(byName(t, gs, "title"))
			testkit.None(t, err)
			if len(titles.Fragmented) != 1 || len(titles.Colliding) != 0 {
				t.Fatalf("fragmented %+v, colliding %+v", titles.Fragmented, titles.Colliding)
			}
			if names := titles.Fragmented[0].Names; !strings.HasPrefix(names[0].Title, "Capitol Hill") || len(names) != 2 {
				t.Errorf("fragment %+v", names)
			}
		})
	}
}

func byName(t testing.TB, gs []*Grouping, name string) *Grouping {
	t.Helper()
	for _, g := range gs {
		if g.Key.Name == name {
			return g
		}
	}
	t.Fatalf("no grouping by %s", name)
	return nil
}

func TestRealTextKeysAgreeBetweenFormats(t *testing.T) {
	full, _ := realHeaders(t, "real-pages-train-full.jsonl.gz")
	simple, _ := realHeaders(t, "real-pages-train-simplified.jsonl.gz")
	for i := range full {
		a, b := full[i], simple[i]
		if a.ExampleID != b.ExampleID || a.Text4KCased != b.Text4KCased || a.Text4K != b.Text4K || a.H1 != b.H1 {
			t.Errorf("example %d: formats differ", a.ExampleID)
		}
	}
}
