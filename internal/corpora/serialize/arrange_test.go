package serialize

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestLead(t *testing.T) {
	lead := func(o *Options) { o.Lead = "paragraphs_first" }
	runBodies(t, []bodyTest{
		{name: "paragraphs, then lists", html: "<ul><li>a</ul><p>b</p><dl><dd>c</dl><p>d</p><h2>H</h2>e<p>f</p>", want: "b\nd\n- a\nc\n\nH\n\ne\nf", options: lead},
		{name: "no tables, no loose text", html: `<div>a<p>b</p></div><table><tr><td><p>c</p></table><center>d</center><h2>H</h2><table><tr><td>e</table>`,
			want: "b\n\nH\n\ne", options: lead},
		{name: "frames hold nothing", html: "<div><ul><li>a</ul><blockquote><p>b</p></blockquote></div><div><h2>H</h2></div><div>c</div>", want: "b\n- a\n\nH\n\nc", options: lead},
		{name: "an item without a list", html: "<li>a<p>b</p>", want: "- a b", options: lead},
		{name: "a heading in an item or a cell is none", html: "<ul><li><h2>a</h2></ul><table><tr><td><h2>x</h2></table><p>b</p>", want: "b\n- a", options: lead},
		{name: "heading of a removed box", html: `<div id="toc"><h2>Contents</h2></div><p>a</p>b`, want: "a", options: lead},
		{name: "a heading that NQ has no token for", html: "<p>a</p><h4>b</h4><p>c</p>", want: "a\nc", options: lead},
		{name: "a second title ends it", html: "<p>a</p>b<h1>B</h1>c", want: "a\nB\nc", options: lead},
		{name: "nothing else", html: "a", want: "", options: lead},
	})
	got := document(t, newSerializer(t, HtmlNorm, nil), page("<table><tr><td><h1>T</h1><p>a</p>b c<table><tr><td>d</table></table>"))
	testkit.Is(t, got.String(), "T\na", got, got.Removed)
	testkit.Is(t, got.Removed.Lead, 3, got, got.Removed)
}

func TestEmptySections(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "straight before another", html: "a<h2>B</h2><h3>C</h3>d", want: "a\n\nC\n\nd"},
		{name: "NQ has no token for h4", html: "a<h3>B</h3><h4>C</h4>d<h4>E</h4>", want: "a\n\nB\n\nC\n\nd\n\nE"},
		{name: "at the end", html: "a<h2>B</h2><div> </div>", want: "a"},
		{name: "of what is removed", html: `a<h2>B</h2><table class="navbox"><tr><td>x</table><ul><li></ul><h2>C</h2>d`, want: "a\n\nC\n\nd"},
		{name: "of markers only", html: "a<h2>B</h2><ol><li><li></ol>", want: "a", options: func(o *Options) { o.EmptyItems = "kept" }},
		{name: "kept", html: "a<h2>B</h2><h3>C</h3>d", want: "a\n\nB\n\nC\n\nd", options: func(o *Options) { o.EmptySections = "keep" }},
		{name: "before a footer", html: "a<h2>B</h2><h3>Notes</h3>c", want: "a"},
	})
	got := document(t, newSerializer(t, HtmlNorm, nil), article("<h2>A</h2><h2>B</h2><h2>C</h2>d"))
	testkit.Is(t, got.Body, "C\nd", got.Removed)
	testkit.Is(t, got.Removed.EmptySections, 2, got.Removed)
}

// Blank lines stand around lists and tables and above headings.
func TestBlankLines(t *testing.T) {
	const html = "<p>a</p><p>b</p><ul><li>c<ul><li>d</ul></ul><ul></ul><p>e</p><p>f</p><table></table><p>g</p><h2>H</h2><p>i</p><h3>J</h3><table><tr><td>k<tr><td>l</table>"
	got := document(t, newSerializer(t, HtmlNorm, inOrder(nil)), article(html)).Body
	if want := "a\nb\n\n- c\n  - d\n\ne\nf\ng\n\nH\ni\n\nJ\n\nk\nl"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFooterSections(t *testing.T) {
	section := func(o *Options) { o.Footer = "section" }
	runBodies(t, []bodyTest{
		{name: "each alone", html: "a<h2>References</h2>b<h3>C</h3>d<h2>Notes</h2><ul><li>e</ul><h2>F</h2>g", want: "a\n\nC\n\nd\n\nF\n\ng", options: section},
		{name: "in frames", html: "<div>a<div><h2>Sources</h2></div><p>b</p></div>c<div><h2>D</h2>e</div>", want: "a\n\nD\n\ne", options: section},
		{name: "with what NQ has no token for", html: "a<h2>Notes</h2>b<h4>C</h4>d<h3>E</h3>f", want: "a\n\nE\n\nf", options: section},
		{name: "without a title", html: "a<h2> <span class=mw-editsection>[edit]</span></h2>b<h2>C</h2>d", want: "a\n\nC\n\nd", options: section},
		{name: "to a level", html: "a<h3>Notes</h3>b<h2>Notes</h2>c", want: "a\n\nNotes\n\nb",
			options: func(o *Options) { section(o); o.FooterLevel = 2 }},
		{name: "the contents box, and what follows it", html: `<p>a</p><div class="toc"><h2>Contents</h2><ul><li>1 B</ul></div><p>b</p><h2>B</h2>c`, want: "a\n\nB\n\nc",
			options: func(o *Options) { section(o); o.RemoveClasses = nil }},
	})
	r := article("<p>a</p><h2>Notes</h2>b c<h2>D</h2>e<h3>See also</h3>f")
	got := document(t, newSerializer(t, HtmlNorm, section), r)
	testkit.Is(t, got.Removed.Footer, "Notes", got.Removed)
	testkit.Is(t, got.Removed.AfterFooter, 6, got.Removed)
	var tally Tally
	tally.Add(got.Removed)
	testkit.Is(t, tally.WithFooter, 1, tally)
	testkit.Is(t, tally.Footers["notes"], 1, tally)
}
