package serialize

import "testing"

func TestLists(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "start", html: `<ol start="3"><li>a<li>b</ol>`, want: "3. a\n4. b"},
		{name: "negative start", html: `<ol start="-1"><li>a<li>b</ol>`, want: "-1. a\n0. b"},
		{name: "bad start", html: `<ol start="x"><li>a</ol>`, want: "1. a"},
		{name: "value and reversed are ignored", html: `<ol reversed><li value="9">a<li>b</ol>`, want: "1. a\n2. b"},
		{name: "start of ul is ignored", html: `<ul start="3"><li>a</ul>`, want: "- a"},
		{name: "two levels under a number", html: "<ol><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ol>", want: "1. a\n  - b\n    1. c\n2. d"},
		{name: "empty item consumes its number", html: "<ol><li>a<li> <li><b></b><li>b</ol>", want: "1. a\n4. b"},
		{name: "or does not", html: "<ol><li>a<li> <li>b</ol>", want: "1. a\n2. b", options: func(o *Options) { o.EmptyItems = "skipped" }},
		{name: "or keeps its marker", html: "<ol><li>a<li> <li>b</ol><ul><li><ul><li>c</ul></ul>", want: "1. a\n2.\n3. b\n-\n  - c", options: func(o *Options) { o.EmptyItems = "kept" }},
		{name: "item with nothing but a list", html: "<ul><li><ul><li>a</ul><li>b</ul>", want: "  - a\n- b"},
		{name: "text behind a nested list joins the item", html: "<ul><li>a<ul><li>b</ul> c</ul>", want: "- a c\n  - b"},
		{name: "paragraphs in an item are one line", html: "<ul><li><p>a</p><p>b</p></ul>", want: "- a b"},
		{name: "list within a block of an item", html: `<ul><li>a<div class="plainlist"><ul><li>b</ul></div></ul>`, want: "- a\n  - b"},
		{name: "list in a list", html: "<ul><ul><li>a</ul></ul>", want: "  - a"},
		{name: "text in a list", html: "<ul>a<li>b</ul>", want: "a\n- b"},
		{name: "adjacent lists", html: "<ul><li>a</ul><ol><li>b</ol>", want: "- a\n1. b"},
		{name: "paragraph and list", html: "<p>a</p><ul><li>b</ul><p>c</p>", want: "a\n- b\nc"},
		{name: "item without a list", html: "<li>a<li>b", want: "- a\n- b"},
		{name: "menu and dir", html: "<menu><li>a</menu><dir><li>b</dir>", want: "- a\n- b"},
		{name: "table in an item", html: "<ul><li>a<table><tr><td>b<td>c</table></ul>", want: "- a\n  b: c"},
		{name: "heading in an item is text", html: "<ul><li><h3>Notes</h3>a</ul><p>b</p>", want: "- Notes a\nb"},
		{name: "footnote mark in an item", html: `<ul><li>a [edit]</ul>`, want: "- a"},
	})
}

func TestDefinitionLists(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "further definitions stand alone", html: "<dl><dt>a<dd>b<dd>c</dl>", want: "a: b\nc"},
		{name: "two terms have one definition", html: "<dl><dt>a<dt>b<dd>c<dd>d</dl>", want: "a: c\nb: c\nd"},
		{name: "terms without definition", html: "<dl><dt>a<dd>b<dt>c<dt> <dt>d</dl>", want: "a: b\nc\nd"},
		{name: "colon of the term stays", html: "<dl><dt>Born:<dd>1900</dl>", want: "Born:: 1900"},
		{name: "empty definition is discarded", html: "<dl><dt>a<dd> <dd>b</dl>", want: "a: b"},
		{name: "indentation", html: "<p>a</p><dl><dd>b<dl><dd>c</dl></dl>", want: "a\nb\n  c"},
		{name: "list in a definition", html: "<dl><dt>a<dd><ul><li>b</ul></dl>", want: "a\n  - b"},
		{name: "list behind a definition's text", html: "<dl><dt>a<dd>b<ul><li>c</ul></dl>", want: "a: b\n  - c"},
		{name: "grouped by div", html: "<dl><div><dt>a<dd>b</div><div><dt>c<dd>d</div></dl>", want: "a: b\nc: d"},
		{name: "in an item", html: "<ul><li>x<dl><dt>a<dd>b</dl></ul>", want: "- x\n  a: b"},
		{name: "without a list", html: "<dt>a<dd>b", want: "a\nb"},
	})
}
