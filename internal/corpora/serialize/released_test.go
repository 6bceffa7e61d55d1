package serialize

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// What the paper's released code makes of small pages, and what Defaults does. The texts were computed from a description
// of that code's rules, by another program. Where the two differ, the option named is why.
func TestReleasedHtmlNorm(t *testing.T) {
	const section = "<h1>X</h1><p>p</p><h2>S</h2>"
	inSection := func(s string) string { return "X\np\n\nS\n\n" + s }
	cell := func(tag string, texts ...string) string {
		return "<tr><" + tag + ">" + strings.Join(texts, "</"+tag+"><"+tag+">") + "</" + tag + "></tr>"
	}
	films := func(rows ...string) string {
		return section + "<table>" + strings.Join(rows, "") + "</table>"
	}
	late := "X " + strings.Repeat("x", 250) + " (ˈ " + strings.Repeat("y", 20) + ") z"
	for _, tt := range []struct {
		name, html, released string
		ours, option         string // if it differs
	}{
		{name: "lead", html: `X - W<h1>X</h1><div>Hat.</div><table class="infobox"><tr><th>Born</th><td>1900</td></tr></table><div>Cap</div>` +
			`<ul><li>a</li></ul><p>X is.</p><p> </p><p>Two.</p><h2>History<span>[edit]</span></h2><div>Main: Z</div><p>Old.</p>`,
			released: "X\nX is.\nTwo.\n\n- a\n\nHistory\nMain: Z\nOld."},
		{name: "gap br", html: "<h1>X</h1><p>A<br>B</p>", released: "X\nA\nB"},
		{name: "gap newline", html: "<h1>X</h1><p>A\nB</p>", released: "X\nAB", ours: "X\nA B", option: "gap"},
		{name: "gap two blanks", html: "<h1>X</h1><p>A  B</p>", released: "X\nAB", ours: "X\nA B", option: "gap"},
		{name: "gap no-break space", html: "<h1>X</h1><p>A\u00a0B</p>", released: "X\nA B"},
		{name: "gap entity", html: "<h1>X</h1><p>A&#160;B</p>", released: "X\nAB", ours: "X\nA B", option: "gap"},
		{name: "gap markup", html: "<h1>X</h1><p>A<i>B</i></p>", released: "X\nAB"},
		{name: "gap blank in markup", html: "<h1>X</h1><p>A<i> </i>B</p>", released: "X\nA B"},
		{name: "sections", html: "<h1>X</h1><p>p</p><h2>A</h2><h3>B</h3><p>c</p><h2>References</h2><p>r</p><h3>G</h3><p>g</p><h2>L</h2><p>l</p>",
			released: "X\np\n\nB\nc\n\nG\ng\n\nL\nl", ours: "X\np\n\nB\nc", option: "footer"},
		{name: "list", html: section + `<ol start="3"><li>x</li><li></li><li>y<ul><li>z</li></ul></li></ol>`,
			released: inSection("3. x\n4.\n5. y\n  - z"), ours: inSection("3. x\n5. y\n  - z"), option: "empty_items"},
		{name: "definitions", html: section + "<dl><dt>T</dt><dd>d1</dd><dd>d2</dd><dt>U</dt><dt>V</dt><dd>e</dd></dl>",
			released: inSection("T: d1\nd2\nU: e\nV: e")},
		{name: "table of two columns with a header", html: films(cell("th", "Country", "Capital"), cell("td", "France", "Paris"), cell("td", "Japan", "Tokyo")),
			released: inSection("Country: Capital\nFrance: Paris\nJapan: Tokyo"),
			ours:     inSection("Country: France ; Capital: Paris\nCountry: Japan ; Capital: Tokyo"), option: "table_first"},
		{name: "table of three columns with a header", html: films(cell("th", "Year", "Film", "Role"), cell("td", "2001", "A", "B"), cell("td", "2002", "C", "D")),
			released: inSection("Year: 2001 ; Film: A ; Role: B\nYear: 2002 ; Film: C ; Role: D")},
		{name: "table of one row with a header", html: films(cell("th", "Year", "Film", "Role"), cell("td", "2001", "A", "B")),
			released: inSection("Year: Film ; Role\n2001: A ; B"), ours: inSection("Year: 2001 ; Film: A ; Role: B"), option: "table_first"},
		{name: "table with a row of two cells", html: films(cell("td", "a", "b", "c"), cell("td", "d", "", "f")),
			released: inSection("a: b ; c\nd: f"), ours: inSection("a ; b ; c\nd ; f"), option: "table_first"},
		{name: "matrix", html: films(cell("td", "a", "b", "c"), cell("td", "d", "e", "f")), released: inSection("a ; b ; c\nd ; e ; f")},
		{name: "pronunciations", html: "<h1>T</h1><p>X (ˈɛks) (born 1900), also (中) known, is</p>",
			released: "T\nX (born 1900), also known, is", ours: "T\nX (born 1900), also (中) known, is", option: "pronunciation_spans"},
		{name: "pronunciation behind the title's parenthesis", html: "<h1>X (season 8)</h1><p>X (ˈɛks) is</p>",
			released: "X (season 8)\nX is", ours: "X (season 8)\nX (ˈɛks) is", option: "pronunciation_spans"},
		{name: "pronunciation that ends late", html: "<h1>T</h1><p>" + late + "</p>",
			released: "T\n" + late, ours: "T\nX " + strings.Repeat("x", 250) + " z", option: "pronunciation_spans"},
		{name: "characters", html: "<h1>½ … café\u00ad</h1><p>ﬁne （full） &amp; &lt;b&gt;</p>", released: "1⁄2 ... café\nfine (full) & <b>"},
		{name: "lead of tables and a hatnote", html: `<h1>X</h1><table class="metadata"><tr><td>m</td></tr></table><table><tr><td>Sidebar</td></tr></table>` +
			`<dl><dd>Hat</dd></dl><p>Text.</p>`, released: "X\nText.\n\nHat"},
		{name: "no title", html: "<p>No.</p><h2>A</h2><p>b</p>", released: "A\nb", ours: "No.\n\nA\nb", option: "footer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := page(tt.html)
			r.Title = ""
			testkit.Is(t, document(t, newSerializer(t, HtmlNorm, released), r).String(), tt.released, "released")
			if tt.ours == "" {
				tt.ours = tt.released
			}
			testkit.Is(t, document(t, newSerializer(t, HtmlNorm, nil), r).String(), tt.ours, "default")
			if tt.option == "" {
				return
			}
			// The option on its own makes the difference.
			one := newSerializer(t, HtmlNorm, func(o *Options) { only(o, tt.option) })
			testkit.Is(t, document(t, one, r).String(), tt.released, tt.option)
		})
	}
}

// Both readings of the one complete NQ record begin alike, up to its first table with
// row heads: 2,791 T5 tokens of lower-cased text.
func TestReleasedRealPage(t *testing.T) {
	r := records(t, "nq-full-walking-dead.jsonl.gz", nq.Train)[0]
	ours, theirs, _ := strings.Cut(document(t, newSerializer(t, HtmlNorm, nil), r).String(), "No. overall: ")
	want, row, _ := strings.Cut(document(t, newSerializer(t, HtmlNorm, released), r).String(), "No. overall: ")
	if ours != want || !strings.HasPrefix(theirs, "100 ; Title: ") || !strings.HasPrefix(row, "No. in season ; Title ; ") {
		t.Errorf("%d and %d bytes before %.40q and %.40q", len(ours), len(want), theirs, row)
	}
}

func TestReleasedNciNorm(t *testing.T) {
	for _, tt := range []struct {
		name     string
		record   *nq.Record
		released string
		ours     string // if it differs, by nci_content
	}{
		{"all parts", simple(nq.Train, "X - w <H1> X </H1> J <P> A <Table> b </P> c <Ul> <Li> d </Li> </Ul> e <Ul> f </Ul> g"), "X A <Table> b c d", "X A <Table> b "},
		{"empty paragraph", simple(nq.Train, "<H1> X </H1> <P> </P> <P> Body text . </P>"), "X Body text .", "X "},
		{"no paragraph", simple(nq.Train, "<H1> X </H1> c"), "X", ""},
		{"dev", tokens(nq.Dev, "Dev Title", "<H1>", "X", "Y", "</H1>", "<P>", "a", "</P>", "b"), "Dev Title a b", "Dev Title a "},
		{"dev without document_title", &nq.Record{Split: nq.Dev, Text: "<H1> X Y </H1> <P> a </P>", URL: "//en.wikipedia.org/w/index.php?title=Dev_Title&amp;oldid=1"},
			"Dev Title a ", ""},
		{"dev without both", simple(nq.Dev, "<H1> X Y </H1> <P> a </P>"), "X Y a ", ""},
		{"signs that look like a tag", simple(nq.Train, "<H1> X </H1> <P> p </P> a < b and c > d"), "X p a d", "X p "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Is(t, document(t, newSerializer(t, NciNorm, released), tt.record).String(), tt.released, "released")
			if tt.ours == "" {
				tt.ours = tt.released
			}
			testkit.Is(t, document(t, newSerializer(t, NciNorm, nil), tt.record).String(), tt.ours, "default")
		})
	}
}

// only sets one option, by its name in HCL, to the released code's value.
func only(o *Options, name string) {
	all := Defaults()
	released(&all)
	from, to := reflect.ValueOf(all), reflect.ValueOf(o).Elem()
	for field, value := range to.Fields() {
		if strings.HasPrefix(field.Tag.Get("hcl"), name+",") {
			value.Set(from.FieldByIndex(field.Index))
		}
	}
}
