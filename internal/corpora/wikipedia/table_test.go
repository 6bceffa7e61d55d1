package wikipedia

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestURLs(t *testing.T) {
	const prefix = "https://en.wikipedia.org//w/index.php?title="
	for _, c := range []struct {
		url   string
		oldID uint64
		title string
	}{
		{prefix + "The_Walking_Dead_(season_8)&amp;oldid=828222625", 828222625, "The Walking Dead (season 8)"},
		{prefix + "A&oldid=1", 1, "A"},
		{prefix + "AT%26T&amp;oldid=2", 2, "AT&T"},
		{prefix + "Steins;Gate&amp;oldid=3", 3, "Steins;Gate"},
		{prefix + "C%2B%2B&amp;oldid=4", 4, "C++"},
		{prefix + "A+B&amp;oldid=4", 4, "A B"},
		{prefix + "100%2525&amp;oldid=4", 4, "100%"},
		{prefix + "Caf%C3%A9&amp;oldid=4", 4, "Café"},
		{prefix + "Foo%20&amp;oldid=4", 4, "Foo "},
		{prefix + "Beyonc%C3%A9&amp;oldid=5", 5, "Beyoncé"},
		{prefix + "100%_of&amp;oldid=6", 6, "100% of"},
		{prefix + "%E9&amp;oldid=7", 7, "\ufffd"},
		{prefix + "Rock_%27n%27_Roll&amp;oldid=8#History", 8, "Rock 'n' Roll"},
		{"https://en.wikipedia.org//w/index.php?oldid=9&amp;title=B", 9, "B"},
		{prefix + "The_%22X%22&#39;s&amp;oldid=18446744073709551615", 1<<64 - 1, ""},
	} {
		id, err := OldID(c.url)
		testkit.None(t, err, c.url)
		testkit.Is(t, id, c.oldID, c.url)
		if title, _ := URLTitle(c.url); c.title != "" && title != c.title {
			t.Errorf("%s: %q, want %q", c.url, title, c.title)
		}
	}
	if title, ok := QueryTitle(prefix + "A_b+c%252F%C3%A9&amp;oldid=1"); !ok || title != "A_b c%2Fé" {
		t.Errorf("title of the query: %q, %v", title, ok)
	}
	for _, c := range []struct{ url, want string }{
		{"", "no oldid"},
		{"https://en.wikipedia.org/wiki/A", "no oldid"},
		{prefix + "A", "no oldid"},
		{prefix + "A&amp;oldid=", "not a positive number"},
		{prefix + "A&amp;oldid=0", "not a positive number"},
		{prefix + "A&amp;oldid=-3", "not a positive number"},
		{prefix + "A&amp;oldid=12x", "not a positive number"},
		{prefix + "A&amp;oldid=1&amp;oldid=2", "several oldids"},
		{prefix + "A#&amp;oldid=1", "no oldid"},
	} {
		testkit.ErrSays(t, testkit.Err(OldID(c.url)), c.want, strconv.Quote(c.url))
	}
}

func TestTableRoundTrip(t *testing.T) {
	entries := []Entry{
		{OldID: 5, PageID: 1, Title: `a "<b>" \ é`, NS: 0},
		{OldID: 2, PageID: 9, Title: "R", NS: NSUnknown, Redirect: true, Target: "T, U"},
		{OldID: 5, PageID: 1, Title: `a "<b>" \ é`, NS: 0},
		{OldID: 1<<64 - 1, PageID: 3, NS: 828},
	}
	table, err := NewTable(entries)
	testkit.None(t, err)
	var a, b bytes.Buffer
	testkit.None(t, WriteTable(&a, table))
	back, err := ReadTable(bytes.NewReader(a.Bytes()), "t")
	testkit.None(t, err)
	if d := cmp.Diff(table.entries, back.entries); d != "" || back.Len() != 3 {
		t.Error(d)
	}
	if err := WriteTable(&b, back); err != nil || a.String() != b.String() {
		t.Errorf("%v\n%s\n%s", err, a.String(), b.String())
	}
	if e, ok := back.Lookup(2); !ok || e.Target != "T, U" {
		t.Error(e, ok)
	}
	if _, ok := back.Lookup(3); ok {
		t.Error("found 3")
	}
}

func TestReadTable(t *testing.T) {
	want := []Entry{{OldID: 3, PageID: 30, NS: NSUnknown}, {OldID: 4, PageID: 40, Title: "B, C", NS: NSUnknown}}
	for name, text := range map[string]string{
		"csv":       "oldid,page_id,title\n4,40,\"B, C\"\n3,30,\n",
		"csv order": "\xef\xbb\xbfTitle, page_id ,OLDID\r\n\"B, C\",40,4\r\n,30,3\r\n",
		"jsonl":     `{"oldid":4,"page_id":40,"title":"B, C"}` + "\n\n" + `{"page_id":30,"oldid":3}`,
		"released":  `{"oldid": 4, "pageid": 40, "title": "B, C"}` + "\n" + `{"oldid": "3", "pageid": "30"}` + "\n",
		"repeated":  "oldid,pageid,title\n4,40,\n3,30,\n4,40,\"B, C\"\n",
		"ns":        "oldid,page_id,title,ns\n4,40,\"B, C\",-1\n3,30,,\n",
	} {
		got, err := ReadTable(strings.NewReader(text), name)
		testkit.None(t, err, name)
		testkit.Deep(t, got.entries, want, name)
		if n := got.Repeated; (n == 1) != (name == "repeated") || n > 1 {
			t.Errorf("%s: %d repeated", name, n)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"oldid,page_id,title\n1,2,Caf\xe9\n", "t: line 2: \"Caf\\xe9\" is not UTF-8"},
		{"{\"oldid\":1,\"page_id\":2,\"title\":\"Caf\xe9\"}", "t: line 1: the line is not UTF-8"},
		{"a,b\n1,2\n", "t: the first line must name the columns oldid and page_id"},
		{"oldid,page_id\n1,x\n", "t: line 2: page_id"},
		{"oldid,page_id\n1,2\n3\n", "wrong number of fields"},
		{"oldid,page_id\n0,2\n", "t: line 2: oldid: 0 is not an id"},
		{"oldid,page_id,redirect\n1,2,maybe\n", "t: line 2: redirect"},
		{"oldid,page_id,ns\n1,2,x\n", "t: line 2: ns"},
		{"oldid,page_id\n1,2\n1,3\n", "t: line 3: revision 1 belongs to page 3, in line 2 to page 2"},
		{`{"oldid":1,"pageid":2}` + "\n\n" + `{"oldid":1,"pageid":3}`, "t: line 3: revision 1 belongs to page 3, in line 1 to page 2"},
		{`{"oldid":1,"pageid":2,"page_id":2}`, "t: line 1: oldid and page_id must be there, once"},
		{`{"oldid":1,"pageid":null}`, "t: line 1: oldid and page_id must be there"},
		{`{"oldid":1,"pageid":2.5}`, "as integers above 0: {\"oldid\":1,\"pageid\":2.5}"},
		{`{"oldid":1,"page_id":2}` + "\n" + `{"oldid":1`, "t: line 2:"},
		{`{"oldid":1}`, "t: line 1: oldid and page_id must be there"},
		{`{"oldid":-1,"page_id":2}`, "t: line 1:"},
	} {
		testkit.ErrSays(t, testkit.Err(ReadTable(strings.NewReader(c.text), "t")), c.want)
	}
}

// TestEmptyTable: what a dump part without wanted revisions leaves can be read.
func TestEmptyTable(t *testing.T) {
	empty, err := NewTable(nil)
	testkit.None(t, err)
	var b bytes.Buffer
	testkit.None(t, WriteTable(&b, empty))
	back, err := ReadTable(&b, "part")
	if err != nil || back.Len() != 0 {
		t.Fatalf("%+v, %v", back, err)
	}
	one, err := NewTable([]Entry{{OldID: 1, PageID: 2}})
	testkit.None(t, err)
	testkit.ErrSays(t, testkit.Err(MergeTables(one, &Table{entries: []Entry{{OldID: 1, PageID: 3}}})), "revision 1 belongs to page 2 and to page 3")
	if both, err := MergeTables(back, one, one); err != nil || both.Len() != 1 || both.Repeated != 1 {
		t.Errorf("%+v, %v", both, err)
	}
}

func TestCompare(t *testing.T) {
	table := func(pairs ...uint64) *Table {
		var entries []Entry
		for i := 0; i < len(pairs); i += 2 {
			entries = append(entries, Entry{OldID: pairs[i], PageID: pairs[i+1]})
		}
		table, err := NewTable(entries)
		testkit.None(t, err)
		return table
	}
	none := []Disagreement{}
	for _, c := range []struct {
		a, b *Table
		want Comparison
	}{
		{table(), table(), Comparison{0, 0, 0, 0, 0, 0, none, none, none}},
		{table(1, 10, 2, 20, 4, 40, 5, 50, 9, 90), table(2, 20, 3, 30, 4, 41, 5, 51, 6, 60, 7, 70), Comparison{5, 6, 1, 2, 2, 3,
			[]Disagreement{{4, 40, 41}, {5, 50, 51}}, []Disagreement{{1, 10, 0}, {9, 90, 0}}, []Disagreement{{3, 0, 30}, {6, 0, 60}}}},
		{table(1, 10), table(), Comparison{1, 0, 0, 0, 1, 0, none, []Disagreement{{1, 10, 0}}, none}},
		{table(), table(1, 10), Comparison{0, 1, 0, 0, 0, 1, none, none, []Disagreement{{1, 0, 10}}}},
	} {
		testkit.Deep(t, Compare(c.a, c.b, 2), c.want)
	}
}
