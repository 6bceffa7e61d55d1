package serialize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// outline is the block structure of a document: an element's name before what is in it, ")" behind, and the text without
// white space. Inline elements, row groups, hr and empty paragraphs are left out.
func outline(s *scanner, id int32, b *strings.Builder) {
	for c := s.nodes[id].first; c != none; c = s.nodes[c].next {
		switch n := &s.nodes[c]; {
		case n.kind == textNode:
			b.WriteString(strings.Join(strings.Fields(string(s.arena[n.a:n.b])), ""))
		case n.kind == elementNode && n.el == rowGroup:
			outline(s, c, b)
		case n.kind == elementNode:
			var inner strings.Builder
			outline(s, c, &inner)
			writeElement(b, n.atom, inner.String())
		}
	}
}

func writeElement(b *strings.Builder, a atom.Atom, inner string) {
	if a != atom.P || inner != "" {
		fmt.Fprintf(b, "(%s %s)", a, inner)
	}
}

// parserOutline is the same from golang.org/x/net/html's tree, which follows the standard's algorithm.
func parserOutline(n *html.Node, b *strings.Builder) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			b.WriteString(strings.Join(strings.Fields(c.Data), ""))
		case html.ElementNode:
			switch el := elementOf[c.DataAtom]; el {
			case raw, void, lineBreak, rule, hidden:
			case inline, ignored, rowGroup:
				parserOutline(c, b)
			default:
				var inner strings.Builder
				parserOutline(c, &inner)
				writeElement(b, c.DataAtom, inner.String())
			}
		}
	}
}

func outlines(t *testing.T, source string) (got, want string) {
	t.Helper()
	source = "<!DOCTYPE html>" + source // without it a table may be in a p
	o := Defaults()
	o.TextSource, o.Normalize, o.Control, o.Infobox = "html", "none", "keep", "keep"
	o.RemoveIDs, o.RemoveClasses, o.FooterHeadings = nil, nil, nil
	sc := newScanner(compile(o))
	sc.once(&nq.Record{HTML: []byte(source)}, true)
	var g, w strings.Builder
	outline(sc, root, &g)
	tree, err := html.ParseWithOptions(strings.NewReader(source), html.ParseOptionEnableScripting(false))
	testkit.None(t, err)
	parserOutline(tree, &w)
	return g.String(), w.String()
}

// Broken markup as the standard mends it.
func TestTree(t *testing.T) {
	for _, source := range []string{
		"<p>a<p>b",
		"<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e",
		"<ul><li><p>a<li>b</ul>",
		"<dl><dt>a<dd>b<dt>c<dd>d</dl>",
		"<p>a<div>b</p>c</div>d",
		"a</p>b",
		"<h2>a<h3>b</h2>c",
		"<div>a</span>b</div></div>c",
		"<table><tr><td>a<td>b<tr><th>c</table>d",
		"<table><td>a<table><tr><td>b</table>c</table>d",
		"<table><tr><td>a<ul><li>b<td>c</table>",
		"<table>a<tr>b<td>c</td>d</tr></table>e",
		"<table><p>a<tr><td>b</table>",
		"<table><tr><td>a<table><tr><td>b</td></tr>",
		"<table><caption>a<p>b<tr><td>c</table>",
		"<table><tr><table><tr><td>a</table>b",
		"<td>a<tr>b<caption>c",
		"<li>a<li>b",
		"<b>a<p>b</b>c</p>d",
		"<a href='x>y'>a</a><p title=\"<p>\">b",
		"<p>a<!-- <p>b --><p>c",
		"<script>'<p>a'</script><p>b<style>p{}</style>c",
		"a &amp b &copy c &lt;p&gt;",
		"<p>a<br>b<hr>c",
		"<blockquote><p>a</blockquote>b",
		"<ul><div><li>a</div><li>b</ul>",
		"<ol><li>a<blockquote>b<li>c</blockquote></ol>",
		"<p>a<table><tr><td>b</table>c",
		"<noscript><p>a</p></noscript>b",
		"<p>a</br>b",
		"<svg><path/></svg><p>b",
		"<h1>a</h2>b",
		"<p>a<", "<p>a</", "<p>a<b", "<p>a<!--", "<p>a<!-", "<p", "<", "",
	} {
		if got, want := outlines(t, source); got != want {
			t.Errorf("%s\n got %s\nwant %s", source, got, want)
		}
	}
}

// The real pages have the tree that the standard gives them.
func TestTreeOfRealPages(t *testing.T) {
	for _, p := range realPages {
		r := realPage(t, p.file, p.split, p.id)
		if got, want := outlines(t, string(r.HTML)); got != want {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("%s %d: at %d of %d, want %d:\n got …%.200s\nwant …%.200s", p.title, p.id, i, len(got), len(want), got[max(0, i-60):], want[max(0, i-60):])
		}
	}
}

// Random tag soup. Inline elements are left out: the standard remembers them in ways that change no text, only which of
// two blocks is the outer one. So is th, which the parser overlooks in a caption.
func TestTreeOfSoup(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := strings.Fields("p div ul ol li dl dt dd table tr td caption tbody thead h2 h3 blockquote pre center")
	differ := 0
	const n = 5000
	for range n {
		var b strings.Builder
		for i := range rng.IntN(20) {
			name := names[rng.IntN(len(names))]
			if rng.IntN(3) == 0 {
				name = "/" + name
			}
			fmt.Fprintf(&b, "<%s>", name)
			if rng.IntN(2) == 0 {
				b.WriteByte(byte('a' + i))
			}
		}
		if got, want := outlines(t, b.String()); got != want {
			if differ++; differ <= 10 {
				t.Errorf("%s\n got %s\nwant %s", b.String(), got, want)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, n)
	}
}
