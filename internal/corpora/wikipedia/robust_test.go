package wikipedia

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

const header = `<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <namespaces>
      <namespace key="-1" case="first-letter">Special</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
    </namespaces>
  </siteinfo>
`

// wantID is the revision that the cases below look for.
const wantID = 815234923

// TestPageForms: what one page says, in every form that XML and the schemas allow.
func TestPageForms(t *testing.T) {
	entry := Entry{OldID: wantID, PageID: 7, Title: "Therefore sign"}
	with := func(change func(*Entry)) []Entry {
		e := entry
		change(&e)
		return []Entry{e}
	}
	revision := `<revision><id>815234923</id><timestamp>2017-12-13T17:21:22Z</timestamp></revision>`
	for _, c := range []struct {
		name, page string
		want       []Entry
		fallbacks  int64 // beside the header
	}{
		{"plain", `<page><title>Therefore sign</title><ns>0</ns><id>7</id>` + revision + `</page>`, []Entry{entry}, 0},
		{"ids of contributor, parent and text", `<page>
    <title>Therefore sign</title>
    <ns>0</ns>
    <id>7</id>
    <revision>
      <id>1</id>
      <parentid>815234923</parentid>
      <contributor><username>x</username><id>815234923</id></contributor>
      <comment>a &lt;id&gt;815234923&lt;/id&gt;</comment>
      <origin>815234923</origin>
      <text bytes="58" id="815234923" />
    </revision>
  </page>`, nil, 0},
		{"text with id first", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><revision><id>815234923</id><text id="1" bytes="2" /><sha1 /></revision></page>`, []Entry{entry}, 0},
		{"deleted parts", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><revision><id>815234923</id><contributor deleted="deleted" /><comment deleted="deleted" /><text deleted="deleted" /><sha1/></revision></page>`, []Entry{entry}, 0},
		{"redirect", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><redirect title="A &quot;&amp;&#039; &gt; B" />` + revision + `</page>`,
			with(func(e *Entry) { e.Redirect, e.Target = true, `A "&' > B` }), 0},
		{"redirect with raw >", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><redirect title="A > B" />` + revision + `</page>`,
			with(func(e *Entry) { e.Redirect, e.Target = true, `A > B` }), 1},
		{"redirect without title", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><redirect />` + revision + `</page>`,
			with(func(e *Entry) { e.Redirect = true }), 0},
		{"redirect in single quotes, end tag", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><redirect x="1" title='A' ></redirect>` + revision + `</page>`,
			with(func(e *Entry) { e.Redirect, e.Target = true, "A" }), 1},
		{"entities", `<page><title>AT&amp;T &#x2014; &lt;b&gt; &quot;&#39;&apos;</title><ns>0</ns><id>7</id>` + revision + `</page>`,
			with(func(e *Entry) { e.Title = `AT&T — <b> "''` }), 0},
		{"CDATA title", `<page><title><![CDATA[AT&T]]> &amp; x</title><ns>0</ns><id>7</id>` + revision + `</page>`,
			with(func(e *Entry) { e.Title = "AT&T & x" }), 1},
		{"comments", `<!-- <page> --><page><!-- <id>9</id> --><title>Therefore<!-- x --> sign</title><ns>0</ns><id>7</id>
			<revision><!-- <id>3</id> --><id>815234923</id><comment>x<!-- </revision> --></comment></revision></page>`, []Entry{entry}, 2},
		{"CDATA with tags", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><revision><id>815234923</id><comment><![CDATA[</revision><revision><id>815234923</id>]]></comment></revision></page>`, []Entry{entry}, 1},
		{"white space in tags", "<page\n><title >Therefore sign</title ><ns>0</ns><id\t>7</id><revision ><id>\n815234923 </id ></revision\n></page >", []Entry{entry}, 4},
		{"attributes", `<page x="1"><title xml:space="preserve">Therefore sign</title><ns>0</ns><id>7</id><revision x='>'><id>815234923</id></revision></page>`, []Entry{entry}, 3},
		{"id behind", `<page><revision><timestamp>2017</timestamp><id>815234923</id></revision><id>7</id><ns>0</ns><title>Therefore sign</title></page>`, []Entry{entry}, 1},
		{"other elements", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><restrictions>edit=sysop</restrictions><upload><id>815234923</id></upload><DiscussionThreading><id>3</id></DiscussionThreading>` + revision + `<x/></page>`, []Entry{entry}, 4},
		{"no ns, talk", `<page><title>Talk:Therefore sign</title><id>7</id>` + revision + `</page>`,
			with(func(e *Entry) { e.NS, e.Title = 1, "Talk:Therefore sign" }), 0},
		{"no ns, colon in title", `<page><title>2001: A</title><id>7</id>` + revision + `</page>`,
			with(func(e *Entry) { e.Title = "2001: A" }), 0},
		{"no revision", `<page><title>Therefore sign</title><ns>0</ns><id>7</id></page>`, nil, 0},
		{"> in an attribute below a revision", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><revision><id>815234923</id><text x="/>" y="</revision>"></text></revision></page>`, nil, -1},
		{"> in an attribute", `<page><title>Therefore sign</title><ns>0</ns><id>7</id><revision><id>815234923</id><text x="a/>" ></text></revision></page>`, []Entry{entry}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunk := range []int{1, 7, 64, chunkBytes} {
				table, stats, err := scanStub(context.Background(), strings.NewReader(header+c.page+"\n</mediawiki>\n"), "dump", lists.Set([]uint64{wantID}), nil, chunk)
				if c.fallbacks < 0 {
					testkit.Some(t, err, "no error")
					continue
				}
				testkit.None(t, err)
				testkit.Deep(t, append([]Entry{}, table.entries...), append([]Entry{}, c.want...))
				testkit.Is(t, stats.Fallbacks, 1+c.fallbacks, stats.Fallbacks-1, c.fallbacks)
				testkit.Is(t, stats.Pages, 1, stats.Fallbacks-1, c.fallbacks)
			}
		})
	}
}

// TestSchema03: no header namespaces, no <ns>.
func TestSchema03(t *testing.T) {
	table, stats := scan(t, []byte(`<?xml version="1.0" encoding="utf-8"?>
<!-- old -->
<mediawiki xmlns='http://www.mediawiki.org/xml/export-0.3/' version='0.3'>
  <page><title>Talk:A</title><id>7</id><revision><id>3</id><minor/></revision></page>
</mediawiki>`), 3)
	want := []Entry{{OldID: 3, PageID: 7, Title: "Talk:A", NS: NSUnknown}}
	if d := cmp.Diff(want, table.entries); d != "" || stats.Schema != "0.3" {
		t.Error(d, stats.Schema)
	}
}

func TestBadDumps(t *testing.T) {
	whole := header + `<page><title>A</title><ns>0</ns><id>7</id><revision><id>3</id></revision></page></mediawiki>`
	gz := read(t, "stub-history-sample.xml.gz")
	page := func(inner string) string { return header + "<page>" + inner + "</page></mediawiki>" }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "truncated"},
		{"cut in header", header[:80], "outside of pages"},
		{"cut in page", whole[:strings.Index(whole, "<revision>")+5], "page 7, which begins at byte 459"},
		{"cut in title", whole[:strings.Index(whole, "A</title>")], "the page that begins at byte 459"},
		{"cut after page", strings.TrimSuffix(whole, "</mediawiki>"), "truncated"},
		{"cut gzip", string(gz[:5000]), "within its first 5000 stored bytes, after 13 pages and 55 revisions: unexpected EOF"},
		{"damaged gzip", string(gz[:4000]) + "xxxxxxxxxxxx" + string(gz[4012:]), "dump.xml.gz: at byte"},
		{"html", "<html><body>404</body></html>", "the file is an HTML page"},
		{"7z", "7z\xbc\xaf\x27\x1c\x00\x04\xff\xfe", "the file is a 7z archive: unpack it"},
		{"zip, renamed", "PK\x03\x04\xff\xfe", "the file is a zip archive"},
		{"another export", "<rss><channel/></rss>", "not a MediaWiki export: its first element is <rss>"},
		{"bytes", "\xff\xfe\x00<\x80", `not a MediaWiki export: it begins with "\xff\xfe`},
		{"not UTF-8 in a tag", header + "<page><title>A</title><id>7</id><\xff/></page></mediawiki>", "not well-formed in page 7"},
		{"json", `{"a":1}`, `not a MediaWiki export: it begins with "{\"a\":1}"`},
		{"no page id", page(`<title>A</title><ns>0</ns>`), "has no id or no title"},
		{"no title", page(`<ns>0</ns><id>7</id>`), "has no id or no title"},
		{"two page ids", page(`<title>A</title><id>7</id><id>8</id>`), "<id> at byte 491 is not an id, or a second one"},
		{"id 0", page(`<title>A</title><id>0</id>`), "is not an id"},
		{"id not a number", page(`<title>A</title><id>7a</id>`), "is not an id"},
		{"id too large", page(`<title>A</title><id>99999999999999999999</id>`), "is not an id"},
		{"bad ns", page(`<title>A</title><ns>main</ns><id>7</id>`), "is not a namespace"},
		{"revision without id", page(`<title>A</title><id>7</id><revision><timestamp/></revision>`), "has no id, or several"},
		{"revision with two ids", page(`<title>A</title><id>7</id><revision><id>3</id><id>4</id></revision>`), "has no id, or several"},
		{"tags crossed", page(`<title>A</title><id>7</id><revision><id>3</id><a><b></a></b></revision>`), "not well-formed in page 7"},
		{"text between", page(`<title>A</title><id>7</id>text`), "text where an element was expected"},
		{"unknown entity", page(`<title>A&nbsp;B</title><id>7</id><revision><id>3</id></revision>`), "the title of page 7: XML syntax error on line 1: invalid character entity &nbsp;"},
		{"not UTF-8", page("<title>A\xff</title><id>7</id><revision><id>3</id></revision>"), "the title of page 7: XML syntax error on line 1: invalid UTF-8"},
		{"one revision on two pages", header + `<page><title>A</title><id>7</id><revision><id>3</id></revision></page><page><title>B</title><id>8</id><revision><id>3</id></revision></page></mediawiki>`, "revision 3 belongs to page 7 and to page 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunk := range []int{1, 13, chunkBytes} {
				table, _, err := scanStub(context.Background(), strings.NewReader(c.text), "dump.xml.gz", lists.Set([]uint64{3}), nil, chunk)
				var stub *StubError
				if table != nil || !errors.As(err, &stub) || stub.File != "dump.xml.gz" {
					t.Fatalf("%v, %v", table, err)
				}
				if !strings.Contains(err.Error(), c.want) || !utf8.ValidString(err.Error()) {
					t.Errorf("chunks of %d: %q, want %q", chunk, err, c.want)
				}
			}
		})
	}
}

func TestReadErrorAndCancel(t *testing.T) {
	text := goldens.Plain(t, read(t, "stub-history-sample.xml.gz"))
	boom := errors.New("connection reset")
	_, _, err := ScanStub(context.Background(), io.MultiReader(bytes.NewReader(text[:9000]), iotest.ErrReader(boom)), "dump", nil, nil)
	testkit.That(t, errors.Is(err, boom) && !errors.Is(err, ErrTruncated), err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	endless := io.MultiReader(strings.NewReader(header), &endlessPages{})
	if _, _, err := ScanStub(ctx, endless, "dump", nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type endlessPages struct{}

func (*endlessPages) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// FuzzScanStub: no input may panic or hang, chunks of any size give the same
// result, and what encoding/xml reads too is read alike.
func FuzzScanStub(f *testing.F) {
	f.Add([]byte(header+`<page><title>A</title><ns>0</ns><id>7</id><redirect title="B" /><revision><id>3</id></revision></page></mediawiki>`), uint8(3))
	f.Add(goldens.Plain(f, read(f, "real-pages-stub.xml.gz"))[:3000], uint8(50))
	f.Add([]byte(header+`<page><title><![CDATA[A]]></title><id>7</id><revision><id>3</id><!-- x --></revision></page></mediawiki>`), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, chunk uint8) {
		wanted := lists.Set([]uint64{3, 4, 790087647, 400000011})
		outcome := func(chunk int) string {
			table, stats, err := scanStub(context.Background(), bytes.NewReader(text), "f", wanted, nil, chunk)
			if err != nil {
				return "error"
			}
			pages := map[string]uint64{}
			for _, e := range table.entries {
				pages[e.Title+" "+e.Target] = e.PageID
			}
			return fmt.Sprint(pages, stats.Pages, stats.Revisions, stats.Redirects)
		}
		whole := outcome(4096)
		if parts := outcome(int(chunk) + 1); parts != whole {
			t.Fatalf("in chunks of %d: %s\nwhole: %s", chunk+1, parts, whole)
		}
		if want, ok := outcomeOfXML(text, wanted); ok && whole != "error" && whole != want {
			t.Fatalf("got %s\nencoding/xml %s", whole, want)
		}
	})
}

// outcomeOfXML is FuzzScanStub's outcome by encoding/xml, if text is one document.
func outcomeOfXML(text []byte, wanted Wanted) (string, bool) {
	var doc struct {
		Pages []refPage `xml:"page"`
	}
	dec := xml.NewDecoder(bytes.NewReader(text))
	if dec.Decode(&doc) != nil {
		return "", false
	}
	if _, err := dec.Token(); err != io.EOF {
		return "", false
	}
	pages := map[string]uint64{}
	var revisions, redirects int
	for _, p := range doc.Pages {
		target := ""
		if p.Redirect != nil {
			redirects++
			target = p.Redirect.Title
		}
		revisions += len(p.Revisions)
		for _, r := range p.Revisions {
			if _, ok := wanted[r.ID]; ok {
				pages[p.Title+" "+target] = p.ID
			}
		}
	}
	return fmt.Sprint(pages, len(doc.Pages), revisions, redirects), true
}

// TestFlatMemory: what is alive during a scan does not depend on the dump's length.
func TestFlatMemory(t *testing.T) {
	text := goldens.Plain(t, read(t, "stub-history-sample.xml.gz"))
	begin, end := bytes.Index(text, []byte("<page>")), bytes.LastIndex(text, []byte("</mediawiki>"))
	pages := &goldens.Repeated{Text: text[begin:end], Times: 600}
	var live []uint64
	pages.Before = func(n int) {
		if n == 540 || n == 1 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			live = append(live, m.HeapAlloc)
		}
	}
	src := io.MultiReader(bytes.NewReader(text[:begin]), pages, bytes.NewReader(text[end:]))
	_, stats, err := ScanStub(context.Background(), src, "dump", nil, nil)
	if err != nil || stats.Revisions != 600*118 {
		t.Fatal(stats.Revisions, err)
	}
	if live[1] > live[0]+8<<20 {
		t.Errorf("%d MiB alive after a tenth, %d at the end", live[0]>>20, live[1]>>20)
	}
}
