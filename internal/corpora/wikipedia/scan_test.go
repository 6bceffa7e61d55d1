package wikipedia

import (
	"bytes"
	"context"
	"encoding/xml"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

func read(tb testing.TB, file string) []byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func scan(tb testing.TB, b []byte, wanted ...uint64) (*Table, Stats) {
	tb.Helper()
	t, s, err := ScanStub(context.Background(), bytes.NewReader(b), "dump", lists.Set(wanted), nil)
	testkit.None(tb, err)
	return t, s
}

// TestRealStubs: the counts of the files' provenance.
func TestRealStubs(t *testing.T) {
	for _, c := range []struct {
		file, schema, wiki          string
		pages, revisions, redirects int64
		ns                          map[int32]*NSCount
	}{
		{"stub-history-sample", "0.11", "elwikivoyage", 20, 118, 13, map[int32]*NSCount{
			0: {13, 85, 12}, 2: {4, 10, 0}, 3: {1, 10, 0}, 4: {1, 7, 1}, 10: {1, 6, 0},
		}},
		{"stub-articles-sample", "0.10", "wikidatawiki", 23, 23, 1, nil},
		{"stub-articles-sample1", "0.10", "wikidatawiki", 8, 8, 0, nil},
		{"stub-articles-sample2", "0.10", "wikidatawiki", 6, 6, 0, nil},
		{"stub-articles-sample3", "0.10", "wikidatawiki", 5, 5, 0, nil},
		{"stub-articles-sample4", "0.10", "wikidatawiki", 4, 4, 1, nil},
		{"real-pages-stub", "0.10", "enwiki", 8, 57, 2, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			_, s := scan(t, read(t, c.file+".xml.gz"))
			testkit.Is(t, s.Schema, c.schema)
			testkit.Is(t, s.Wiki, c.wiki)
			if s.Pages != c.pages || s.Revisions != c.revisions || s.Redirects != c.redirects {
				t.Errorf("%d pages, %d revisions, %d redirects", s.Pages, s.Revisions, s.Redirects)
			}
			if d := cmp.Diff(c.ns, s.ByNS); c.ns != nil && d != "" {
				t.Error(d)
			}
			if s.Fallbacks != 1 { // the header
				t.Errorf("%d fallbacks", s.Fallbacks)
			}
		})
	}
}

// TestPartsConcatenate: four parts, scanned one by one or joined, give the complete table.
func TestPartsConcatenate(t *testing.T) {
	var wanted []uint64
	var joined []byte
	whole, stats := scan(t, read(t, "stub-articles-sample.xml.gz"), everyID(t, "stub-articles-sample.xml.gz")...)
	for _, e := range whole.entries {
		wanted = append(wanted, e.OldID)
	}
	if len(wanted) != 23 {
		t.Fatalf("%d revisions", len(wanted))
	}
	var sum Stats
	var tables []*Table
	for _, part := range []string{"1", "2", "3", "4"} {
		b := read(t, "stub-articles-sample"+part+".xml.gz")
		joined = append(joined, b...)
		table, s := scan(t, b, wanted...)
		sum.Add(s)
		tables = append(tables, table)
	}
	merged, err := MergeTables(tables[2], tables[0], tables[3], tables[1])
	testkit.None(t, err)
	cat, catStats := scan(t, joined, wanted...) // one file of four gzip members and documents
	for name, got := range map[string]*Table{"merged": merged, "joined": cat} {
		testkit.Deep(t, got.entries, whole.entries, name)
	}
	for name, got := range map[string]Stats{"merged": sum, "joined": catStats} {
		got.BytesIn, got.BytesOut, got.Fallbacks = stats.BytesIn, stats.BytesOut, stats.Fallbacks
		testkit.Deep(t, got, stats, name)
	}
}

// everyID lists the revision ids of a file by encoding/xml.
func everyID(tb testing.TB, file string) []uint64 {
	tb.Helper()
	var ids []uint64
	for _, p := range reference(tb, goldens.Plain(tb, read(tb, file))) {
		for _, r := range p.Revisions {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

type refPage struct {
	Title    string `xml:"title"`
	NS       *int32 `xml:"ns"`
	ID       uint64 `xml:"id"`
	Redirect *struct {
		Title string `xml:"title,attr"`
	} `xml:"redirect"`
	Revisions []struct {
		ID uint64 `xml:"id"`
	} `xml:"revision"`
}

// reference reads a dump with only encoding/xml.
func reference(tb testing.TB, text []byte) []refPage {
	tb.Helper()
	var doc struct {
		Pages []refPage `xml:"page"`
	}
	testkit.None(tb, xml.Unmarshal(text, &doc))
	return doc.Pages
}

// TestAgainstXML compares every revision of the real stubs with encoding/xml.
func TestAgainstXML(t *testing.T) {
	for _, file := range []string{"stub-history-sample", "stub-articles-sample", "real-pages-stub"} {
		var want []Entry
		for _, p := range reference(t, goldens.Plain(t, read(t, file+".xml.gz"))) {
			for _, r := range p.Revisions {
				e := Entry{OldID: r.ID, PageID: p.ID, Title: p.Title, NS: *p.NS, Redirect: p.Redirect != nil}
				if e.Redirect {
					e.Target = p.Redirect.Title
				}
				want = append(want, e)
			}
		}
		slices.SortFunc(want, compareEntries)
		got, _ := scan(t, read(t, file+".xml.gz"), everyID(t, file+".xml.gz")...)
		testkit.Deep(t, got.entries, want, file)
	}
}

// export is a MediaWiki Content File Export with one page, as its exporter lays it out.
func export(page string, revisions ...string) []byte {
	return []byte(`<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.mediawiki.org/xml/export-0.11/ http://www.mediawiki.org/xml/export-0.11.xsd" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
    <generator>MediaWiki Content File Export 1.0.0</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
    </namespaces>
  </siteinfo>
  <page>
    <title>` + page + `</title>
    <ns>0</ns>
    <id>13</id>
` + strings.Join(revisions, "") + `  </page>
</mediawiki>
`)
}

func exported(id, text string) string {
	return `    <revision>
      <id>` + id + `</id>
      <parentid>-1</parentid>
      <timestamp>2026-04-01T00:00:00Z</timestamp>
      <contributor deleted="deleted" />
      <comment></comment>
      <origin>` + id + `</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      ` + text + `
      <sha1 />
    </revision>
`
}

// TestContentExports: a page in two files, the later of which has it by another name, is one; what such files do not say is counted.
func TestContentExports(t *testing.T) {
	first := export("Old name", exported("400", `<text bytes="30" sha1="a" xml:space="preserve">#REDIRECT [[X]] &lt;id&gt;9&lt;/id&gt;</text>`), exported("401", `<text bytes="-1" deleted="deleted" />`))
	second := export("New name", exported("402", `<text bytes="0" />`))
	wanted := []uint64{400, 401, 402, 9}
	a, sa := scan(t, first, wanted...)
	b, sb := scan(t, second, wanted...)
	merged, err := MergeTables(a, b)
	testkit.None(t, err)
	want := []Entry{{OldID: 400, PageID: 13, Title: "Old name"}, {OldID: 401, PageID: 13, Title: "Old name"}, {OldID: 402, PageID: 13, Title: "New name"}}
	testkit.Deep(t, merged.entries, want)
	sa.Add(sb)
	if sa.Exports != 2 || sa.Redirects != 0 || sa.Pages != 2 || sa.Found != 3 || sa.Schema != "0.11" || sa.Fallbacks != 2 {
		t.Errorf("%+v", sa)
	}
	if _, s := scan(t, read(t, "stub-history-sample.xml.gz")); s.Exports != 0 {
		t.Errorf("a stub dump is %d exports", s.Exports)
	}
}
