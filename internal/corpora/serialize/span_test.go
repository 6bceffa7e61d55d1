package serialize

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Each rule of the byte-aligned recovery, and its alternatives.
func TestSpans(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "empty gap", html: "<p>a,b</p>", want: "a,b"},
		{name: "markup alone is no space", html: "<p>a<b>b</b>c</p>", want: "abc"},
		{name: "space beside markup", html: "<p>a <b>b</b> c<i> d</i></p>", want: "a b c d"},
		{name: "white space inside a tag is none", html: "<p>a<a href=\"x y\" title='p q'>b</a></p>", want: "ab"},
		{name: "white space in a comment is none", html: "<p>a<!-- x y -->b</p>", want: "ab"},
		{name: "white space in a script is none", html: "<p>a<script> x = 1 </script>b</p>", want: "ab"},
		{name: "newlines and runs of blanks", html: "<p>a \n\t b</p>", want: "a b"},
		{name: "no-break space", html: "<p>a&nbsp;b\u00a0c&#160;d</p>", want: "a b c d"},
		{name: "hair space", html: "<p>a\u200ab</p>", want: "a b"},
		{name: "zero-width space is none", html: "<p>a\u200bb</p>", want: "ab"},
		{name: "control characters go", html: "<p>a&#173;b&#8288;\u007fc\ue000 &#x378; d</p>", want: "abc d"},
		{name: "control characters stay", html: "<p>a\u00adb\u200bc</p>", want: "a\u00adb\u200bc", options: func(o *Options) { o.Control = "keep" }},
		{name: "space in text that NQ did not tokenise", html: "<p>Intro<sup class=\"reference\">[note 1]</sup>.</p>", want: "Intro ."},
		{name: "none, once the footnote's class is removed", html: "<p>Intro<sup class=\"reference\">[note 1]</sup>.</p>", want: "Intro.",
			options: func(o *Options) { o.RemoveClasses = append(o.RemoveClasses, "reference") }},
		{name: "block boundary before white space", html: "<p>a</p>\n<p>b</p>", want: "a\nb"},
		{name: "block boundary without white space", html: "<div>a</div><div>b</div>", want: "a\nb"},
		{name: "br", html: "<p>line one<br>line two</p>", want: "line one\nline two"},
		{name: "hr", html: "a<hr>b", want: "a\nb"},
		{name: "entities", html: "<p>AT&amp;T caf&eacute; &#x201c;x&#8221; &lt;b&gt;</p>", want: "AT&T café “x” <b>"},
		{name: "entities without semicolons", html: "<p>a &amp b &copy 2018</p>", want: "a & b © 2018"},
		{name: "NFKC", html: "<p>ﬁre ½ x² … ｆｕｌｌ</p>", want: "fire 1⁄2 x2 ... full"},
		{name: "no normalization", html: "<p>ﬁre ½</p>", want: "ﬁre ½", options: func(o *Options) { o.Normalize = "none" }},
		{name: "pre", html: "<pre>a\n  b</pre>", want: "a b"},
		{name: "all text of the HTML", html: "<p>Intro<sup class=\"reference\">[1]</sup> <b>x</b></p>", want: "Intro[1] x",
			options: func(o *Options) { o.TextSource = "html" }},
		{name: "NQ's strings", html: `<p>say "yes"</p>`, want: "say ``yes''", options: func(o *Options) { o.TextSource = "stored" }},
	})
}

// Tokens whose span holds markup, as 's spans '</SPAN>s in the real record.
func TestSpanMarkup(t *testing.T) {
	html := "<h1>T</h1><p>Rick<span>&#39;</span>s tale</p>"
	at := strings.Index(html, "&#39;")
	r := page(html)
	var tokens []nq.Token
	for _, tok := range r.Tokens {
		switch {
		case int(tok.Start) == at:
			tok.Text, tok.End = "'s", int32(strings.Index(html, "s tale")+1)
		case tok.Text == "s" && int(tok.Start) > at:
			continue
		}
		tokens = append(tokens, tok)
	}
	r.Tokens = tokens
	testkit.Is(t, document(t, newSerializer(t, HtmlNorm, nil), r).Body, "Rick's tale")
}

// Spans that cannot be right are counted, and never fatal.
func TestSpansOutside(t *testing.T) {
	html := "<h1>T</h1><p>abc def</p>"
	r := &nq.Record{HTML: []byte(html), Tokens: []nq.Token{
		{Text: "T", Start: 4, End: 5},
		{Text: "tag", Start: 6, End: 8},        // in </h1>
		{Text: "abc", Start: 13, End: 16},      // good
		{Text: "again", Start: 13, End: 16},    // behind the one before
		{Text: "empty", Start: 17, End: 17},    //
		{Text: "negative", Start: -3, End: 17}, //
		{Text: "def", Start: 17, End: 20},      // good
		{Text: "beyond", Start: 20, End: 99},   //
	}}
	got := document(t, newSerializer(t, HtmlNorm, nil), r)
	if got.String() != "T\nabc def" || got.Removed.SpansOutside != 3 || got.Removed.Invisible != 2 {
		t.Errorf("%q %+v", got.String(), got.Removed)
	}
}

// A span over the first heading's tag begins before the title, whose tree is new.
func TestSpanOverTitle(t *testing.T) {
	r := &nq.Record{HTML: []byte("<p>ab<h1>T</h1><p>c"), Tokens: []nq.Token{
		{Text: "ab", Start: 3, End: 10}, {Text: "T", Start: 9, End: 10}, {Text: "c", Start: 18, End: 19},
	}}
	got := document(t, newSerializer(t, HtmlNorm, nil), r)
	if got.String() != "T\nc" || got.Removed.BeforeTitle != 1 {
		t.Errorf("%q %+v", got.String(), got.Removed)
	}
}

// A combining mark that starts a token stays apart: normalization is per token.
func TestNormalizationPerToken(t *testing.T) {
	html := "<h1>T</h1><p>e\u0301x"
	r := &nq.Record{HTML: []byte(html), Tokens: []nq.Token{
		{Text: "T", Start: 4, End: 5}, {Text: "e", Start: 13, End: 14}, {Text: "\u0301x", Start: 14, End: 17},
	}}
	testkit.Is(t, document(t, newSerializer(t, HtmlNorm, nil), r).Body, "e\u0301x")
	r.Tokens = []nq.Token{{Text: "T", Start: 4, End: 5}, {Text: "e\u0301x", Start: 13, End: 17}}
	testkit.Is(t, document(t, newSerializer(t, HtmlNorm, nil), r).Body, "\u00e9x")
}

func TestTitle(t *testing.T) {
	for _, tt := range []struct{ name, html, title, body string }{
		{"what stands before is dropped", "<p>before</p><h1><i>A</i> (b)</h1><p>c</p>", "A (b)", "c"},
		{"none: the stored one", "<p>a</p><p>b</p>", "Stored title", "a\nb"},
		{"none, though a comment has one", "<!-- <h1>x</h1> --><p>a</p>", "Stored title", "a"},
		{"empty: the stored one", "<h1></h1><p>a</p>", "Stored title", "a"},
		{"a second one is a line", "<h1>A</h1><p>a</p><h1>See also</h1><p>b</p>", "A", "a\nSee also\nb"},
		{"a footer's heading before it does not stop", "<h2>References</h2><h1>A</h1><p>a", "A", "a"},
		{"inside the frame of the page", "<div id=content><div><h1>A</h1><div><p>a</p></div></div></div>", "A", "a"},
		{"nothing but it", "<h1>A</h1>", "A", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := document(t, newSerializer(t, HtmlNorm, nil), page(tt.html))
			testkit.Is(t, got.Title, tt.title)
			testkit.Is(t, got.Body, tt.body)
			if want := strings.TrimSuffix(tt.title+"\n"+tt.body, "\n"); got.String() != want {
				t.Errorf("%q, want %q", got.String(), want)
			}
			testkit.Is(t, got.Removed.NoTitle, tt.title == "Stored title", got.Removed)
		})
	}
}
