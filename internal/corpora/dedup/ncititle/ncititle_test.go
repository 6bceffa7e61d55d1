// Package ncititle tests the deduplication keys with the real BERT tokenizer, apart
// from package dedup so that dedup's own tests need no native library.
package ncititle

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

func bert(t *testing.T) *tokenize.BERT {
	t.Helper()
	b, err := tokenize.NewBERT(tokenizers.BERTUncased)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTitleKeys(t *testing.T) {
	s := dedup.Sources{BertNormalize: bert(t).Normalize}
	for _, c := range []struct {
		key  string
		h    nq.Header
		want string
	}{
		{"title", nq.Header{Split: nq.Train, H1: "Elsa ( Disney )"}, "elsa ( disney )"},
		{"title", nq.Header{Split: nq.Train, H1: "Elsa ( Frozen )"}, "elsa ( frozen )"},
		{"title", nq.Header{Split: nq.Train, H1: "It Takes a Village"}, "it takes a village"},
		{"title", nq.Header{Split: nq.Train, H1: "It takes a village"}, "it takes a village"},
		{"title", nq.Header{Split: nq.Train, H1: "1918 -- 19 season", Title: "1918–19 season"}, "1918 - - 19 season"},
		{"title", nq.Header{Split: nq.Dev, H1: "1918 -- 19 season", Title: "1918–19 season"}, "1918 – 19 season"},
		{"nci_h1", nq.Header{Split: nq.Dev, H1: "1918 -- 19 season", Title: "1918–19 season"}, "1918 - - 19 season"},
		{"title", nq.Header{Split: nq.Train, H1: "Beyoncé"}, "beyonce"},
		{"title", nq.Header{Split: nq.Train, H1: "What 's Up , Doc ?"}, "what's up, doc?"},
		{"title", nq.Header{Split: nq.Train, H1: "U.S. Route 66"}, "u. s. route 66"},
		{"title", nq.Header{Split: nq.Train, H1: "Don 't"}, "don't"},
		{"title", nq.Header{Split: nq.Dev, Title: "Ke$ha"}, "ke $ ha"},
		{"title", nq.Header{Split: nq.Train, H1: "😀 Movie"}, "[UNK] movie"},
		{"title", nq.Header{Split: nq.Train, H1: "🎉 Movie"}, "[UNK] movie"},
		{"title", nq.Header{Split: nq.Train, H1: "A.B.C."}, "a. b. c."},
		{"title", nq.Header{Split: nq.Train}, ""},
	} {
		k, err := dedup.Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := k.Of(&c.h, dedup.Options{}, s); err != nil || got != c.want {
			t.Errorf("%s of %s %q: %q, %v; want %q", c.key, c.h.Split, c.h.H1, got, err, c.want)
		}
	}
}

// The whole way on real pages: reader, text keys, stub scan, tokenizer, grouping.
// The counts were made by two independent programs.
func TestRealPages(t *testing.T) {
	const stub = "real-pages-stub.xml.gz"
	f, err := os.Open(filepath.Join("..", "..", "wikipedia", "testdata", stub))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hs := headers(t)
	var wanted []uint64
	for i := range hs {
		id, err := wikipedia.OldID(hs[i].URL)
		if err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, id)
	}
	table, _, err := wikipedia.ScanStub(context.Background(), f, stub, wikipedia.NewWanted(wanted), wikipedia.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := dedup.NewGrouper(dedup.PaperKeys(), dedup.Options{}, dedup.Sources{
		BertNormalize: bert(t).Normalize,
		PageID:        func(oldid uint64) (uint64, bool) { e, ok := table.Lookup(oldid); return e.PageID, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range hs {
		if err := g.Add(&hs[i]); err != nil {
			t.Fatal(err)
		}
	}
	titles := dedup.Counts{Train: 5, Dev: 4, Union: 6}
	want := map[string]dedup.Counts{
		"text4k": {Train: 10, Dev: 6, Union: 11}, "url": {Train: 10, Dev: 8, Union: 13},
		"url_title_cased": titles, "url_title": titles, "h1_cased": titles, "h1": titles, "nci_h1": titles, "title": titles,
		"page_id": {Train: 5, Dev: 5, Union: 6},
	}
	for _, grouping := range g.Groupings() {
		if w, ok := want[grouping.Key.Name]; ok && grouping.Counts() != w {
			t.Errorf("%s: %+v, want %+v", grouping.Key.Name, grouping.Counts(), w)
		}
		if grouping.Key.Name != "title" {
			continue
		}
		d, err := dedup.DiagnoseTitles(grouping)
		if err != nil || len(d.Fragmented) != 1 || len(d.Colliding) != 0 {
			t.Errorf("%+v, %v", d, err)
		}
	}
	r := g.Groupings()[0].Records.Resolution()
	if r.Revisions != 13 || r.Resolved != 12 || r.UnresolvedRecords != 3 {
		t.Errorf("%+v", r)
	}
}

func headers(t *testing.T) []nq.Header {
	t.Helper()
	var all []nq.Header
	for _, shard := range []struct {
		file  string
		split nq.Split
	}{{"real-pages-dev-full.jsonl.gz", nq.Dev}, {"real-pages-train-full.jsonl.gz", nq.Train}} {
		f, err := os.Open(filepath.Join("..", "..", "nq", "testdata", shard.file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rd := nq.NewReader(f, shard.file, nq.Options{Split: shard.split})
		defer rd.Close()
		for {
			var r nq.Record
			if err := rd.Next(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			h := nq.HeaderOf(&r)
			h.Text4KCased, h.Text4K = dedup.TextKeys(&r, false)
			all = append(all, h)
		}
	}
	return all
}
