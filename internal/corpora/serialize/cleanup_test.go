package serialize

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestInterface(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "jump links of 2018", html: `<div id="jump-to-nav"></div><a class="mw-jump-link" href="#mw-head">Jump to navigation</a><a class="mw-jump-link" href="#p-search">Jump to search</a><p>a</p>`, want: "a"},
		{name: "by id", html: `<div id="siteSub">x</div><div id="jump-to-nav">Jump to: <a>y</a></div>a`, want: "a"},
		{name: "by class", html: `<div class="vertical-navbox nowraplinks">x</div><p>a</p><table class="x navbox"><tr><td>y</table>b`, want: "a\nb"},
		{name: "a class that only begins so is kept", html: `<div class="navbox-like">a</div>`, want: "a"},
		{name: "hatnotes and captions are kept", html: `<div class="hatnote">See x.</div><div class="thumb">Cap</div>a`, want: "See x.\nCap\na"},
		{name: "navboxes kept", html: `<div class="navbox">x</div>a`, want: "x\na", options: func(o *Options) { o.RemoveClasses = []string{"toc"} }},
		{name: "section links", html: `<h2>A<span class="mw-editsection">[<a>edit</a>]</span></h2>b`, want: "A\n\nb"},
		{name: "their text without their class", html: "<h2>A [edit]</h2>b [hide] c [ Show ]", want: "A\n\nb c [ Show ]"},
		{name: "other words in brackets are kept", html: "<p>a [citation needed] [editor] b[1]</p>", want: "a [citation needed] [editor] b[1]"},
		{name: "no artifacts", html: "<p>a [edit]</p>", want: "a [edit]", options: func(o *Options) { o.Artifacts = nil }},
		{name: "a removed block is a boundary", html: `a<div class="toc">x</div>b`, want: "a\nb"},
		{name: "a removed inline element is none", html: `a<span class="toctoggle"> x </span>b`, want: "ab"},
		{name: "removed element within its own kind", html: `a <span class="mw-editsection">x<span>y</span>z</span> b`, want: "a b"},
		{name: "unclosed removed element ends with its block", html: `<h2>A<span class="mw-editsection">x</h2>b`, want: "A\n\nb"},
		{name: "the page's frame", html: `a<div id="footer"><ul><li>About</ul></div><div class="printfooter">Retrieved</div>`, want: "a"},
		{name: "hidden text is kept", html: `<p>a<span style="display:none"> (b)</span></p>`, want: "a (b)"},
		{name: "template", html: "<template><p>x</p></template>a", want: "a"},
	})
}

func TestInfobox(t *testing.T) {
	html := `<table class="wikitable"><tr><td>w</table><table class="infobox vcard"><tr><th>Born<td><p>1900</p></table>` +
		`<table class="vevent infobox_v2"><tr><td>x</table><p>a</p><table class="infobox"><tr><td>y</table><h2>S</h2><table class="infobox"><tr><td>z</table>`
	set := func(v string) func(*Options) { return func(o *Options) { o.Infobox = v } }
	runBodies(t, []bodyTest{
		{name: "introductory", html: html, want: "w\na\n\nS\n\nz"},
		{name: "first", html: html, want: "w\nx\na\ny\n\nS\n\nz", options: set("first")},
		{name: "all", html: html, want: "w\na", options: set("all")},
		{name: "first table", html: html, want: "Born: 1900\nx\na\ny\n\nS\n\nz", options: set("first_table")},
		{name: "keep", html: html, want: "w\nBorn: 1900\nx\na\ny\n\nS\n\nz", options: set("keep")},
		{name: "first table after the first paragraph", html: "<p>a</p><table><tr><td>b</table>", want: "a\nb", options: set("first_table")},
		{name: "heading of the contents box does not count", html: `<div id="toc"><h2>Contents</h2></div><table class="infobox"><tr><td>x</table>a`, want: "a"},
		{name: "heading in an infobox does not count", html: `<table class="infobox"><tr><td><h3>x</h3></table><table class="infobox"><tr><td>y</table>a`, want: "a"},
		{name: "prefix", html: `<table class="taxobox"><tr><td>x</table>a`, want: "a", options: func(o *Options) { o.InfoboxPrefix = "taxobox" }},
	})
}

func TestFooters(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "stops", html: "a<h2>References</h2>b<h2>Later</h2>c", want: "a"},
		{name: "normalized", html: "a<h2> See\n <i>ALSO</i> : <span class=mw-editsection>[edit]</span></h2>b", want: "a"},
		{name: "any level", html: "a<h5>Notes</h5>b", want: "a"},
		{name: "to a level", html: "a<h3>Notes</h3>b<h2>Notes</h2>c", want: "a\n\nNotes\n\nb", options: func(o *Options) { o.FooterLevel = 2 }},
		{name: "not the whole heading", html: "a<h2>Notes on style</h2>b", want: "a\n\nNotes on style\n\nb"},
		{name: "contents box does not stop", html: `a<div id="toc" class="toc"><h2>Contents</h2></div>b`, want: "a\nb"},
		{name: "contents as a section stops", html: "a<h2>Contents</h2>b", want: "a"},
		{name: "contents box read literally", html: `a<div id="toc" class="toc"><h2>Contents</h2></div>b`, want: "a",
			options: func(o *Options) { o.RemoveIDs, o.RemoveClasses = nil, nil }},
		{name: "other headings", html: "a<h2>Notes</h2>b<h2>Discography</h2>c", want: "a\n\nNotes\n\nb", options: func(o *Options) { o.FooterHeadings = []string{"Discography"} }},
		{name: "inside a frame", html: "<div><div>a</div><div><h2>Sources</h2></div><p>b</p></div>c", want: "a"},
		{name: "unclosed heading", html: "<div>a<h2>Sources</div>b", want: "a"},
		{name: "heading first", html: "<h2>H</h2>a", want: "H\n\na"},
		{name: "empty heading", html: "a<h2><span class=mw-editsection>[edit]</span></h2>b", want: "a\n\nb"},
	})
}

func TestPronunciation(t *testing.T) {
	long := strings.Repeat("x", 252)
	all := func(o *Options) { o.PronunciationSpans = "all" }
	for _, tt := range []struct {
		name, title, body, want, removed string
		options                          func(*Options)
	}{
		{"removed with the blank before it", "T", "Foo (ˈfuː), is", "T\nFoo, is", "(ˈfuː)", nil},
		{"kept when T5 knows it", "T", "Foo (born 1900) is (ˈfuː)", "T\nFoo (born 1900) is (ˈfuː)", "", nil},
		{"whole span, nested", "T", "Foo (a (ˈ) b) is", "T\nFoo is", "(a (ˈ) b)", nil},
		{"the title's parenthesis is the first", "Foo (film)", "Foo (ˈfuː) is", "Foo (film)\nFoo (ˈfuː) is", "", nil},
		{"unless the window starts behind the title", "Foo (film)", "Foo (ˈfuː) is", "Foo (film)\nFoo is", "(ˈfuː)",
			func(o *Options) { o.PronunciationScope = "body" }},
		{"in the title", "Foo (ˈfuː)", "bar", "Foo\nbar", "(ˈfuː)", nil},
		{"full width", "T", "Foo （ˈfuː） is", "T\nFoo is", "(ˈfuː)", nil},
		{"across lines", "T", "<p>Foo (a</p><p>ˈ) is</p>", "T\nFoo is", "(a\nˈ)", nil},
		{"at the start of a line", "T", "(ˈ) Foo", "T\nFoo", "(ˈ)", nil},
		{"a line of its own", "T", "<p>a</p><p>(ˈ)</p><p>b</p>", "T\na\nb", "(ˈ)", nil},
		{"a line of its own, before a heading", "T", "<p>a</p><p>(ˈ)</p><h2>b</h2>c", "T\na\n\nb\nc", "(ˈ)", nil},
		{"the whole body", "T", "(ˈ)", "T", "(ˈ)", nil},
		{"the whole title", "(ˈ)", "a", "a", "(ˈ)", nil},
		{"unbalanced", "T", "Foo (ˈ is", "T\nFoo (ˈ is", "", nil},
		{"at code point 255", "T", long + " (ˈ) y", "T\n" + long + " y", "(ˈ)", nil},
		{"at code point 256", "T", long + "x (ˈ) y", "T\n" + long + "x (ˈ) y", "", nil},
		{"code points, not bytes", "T", strings.Repeat("é", 252) + " (ˈ) y", "T\n" + strings.Repeat("é", 252) + " y", "(ˈ)", nil},
		{"window", "T", "ab (ˈ)", "T\nab (ˈ)", "", func(o *Options) { o.PronunciationWindow = 5 }},
		{"keep", "T", "Foo (ˈ) is", "T\nFoo (ˈ) is", "", func(o *Options) { o.Pronunciation = "keep" }},
		{"not a pronunciation", "T", "Foo (x ~ y) is", "T\nFoo is", "(x ~ y)", nil},
		{"all: outermost, in the title too", "T (ˈ)", "Foo (a) (b (ˈ)) (c) (中) is", "T\nFoo (a) (c) is", "(ˈ) (b (ˈ)) (中)", all},
		{"all: behind an end without a beginning", "T", "Foo ) (ˈ) is", "T\nFoo ) is", "(ˈ)", all},
		{"all: not in one that stays open", "T", "Foo (a (ˈ) is", "T\nFoo (a (ˈ) is", "", all},
		{"all: ends at code point 256", "T", long[:250] + " (ˈ) y", "T\n" + long[:250] + " y", "(ˈ)", all},
		{"all: ends behind it", "T", long + " (ˈ) y", "T\n" + long + " (ˈ) y", "", all},
		{"all: lines of their own", "(ˈ) (ˈ)", "<p>(ˈ)</p><p>a (ˈ) </p>", "a", "(ˈ) (ˈ) (ˈ) (ˈ)", all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := document(t, newSerializer(t, HtmlNorm, inOrder(tt.options)), page("<h1>"+tt.title+"</h1>"+tt.body))
			testkit.Is(t, got.String(), tt.want)
			testkit.Is(t, got.Removed.Pronunciation, tt.removed)
			testkit.Is(t, strings.TrimSpace(got.Title+"\n"+got.Body), got.String(), got.Title, got.Body)
		})
	}
}
