package serialize

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// What the paper prints, from HTML built as Wikipedia builds it.

const selena = `<TITLE>Selena Gomez - Wikipedia</TITLE></HEAD><BODY><H1 id="firstHeading">Selena Gomez</H1>
<DIV id="siteSub">From Wikipedia, the free encyclopedia</DIV>
<DIV id="jump-to-nav" class="mw-jump">Jump to: <A href="#mw-head">navigation</A>, <A href="#p-search">search</A></DIV>
<TABLE class="infobox vcard"><TR><TH>Born</TH><TD>July 22, 1992</TD></TR></TABLE>
<P><B>Selena Marie Gomez</B> (<SPAN class="nowrap"><SPAN class="IPA"><A href="/wiki/Help:IPA">/<SPAN title="s">s</SPAN><SPAN>ᵻ</SPAN><SPAN>ˈ</SPAN><SPAN>l</SPAN><SPAN>iː</SPAN><SPAN>n</SPAN><SPAN>ə</SPAN> <SPAN>ˈ</SPAN><SPAN>ɡ</SPAN><SPAN>oʊ</SPAN><SPAN>m</SPAN><SPAN>ɛ</SPAN><SPAN>z</SPAN>/</A></SPAN></SPAN>; born July 22, 1992)<SUP class="reference">[1]</SUP> is an American singer and actress. She began her career starring in the children's television series <I>Barney &amp; Friends</I>.</P>`

const matt = `<TITLE>Matt Lanter - Wikipedia</TITLE></HEAD><BODY><H1 id="firstHeading">Matt Lanter</H1>
<P><B>Matthew MacKendree "Matt" Lanter</B> (born April 1, 1983)<SUP class="reference">[2]</SUP> is an American actor.</P>`

// The lines of the table of the first 32 tokens, as far as they go; lower case and
// joined blanks are the tokenizer's doing.
func TestPaperFirstTokens(t *testing.T) {
	for _, tt := range []struct {
		name, html, nci, html32 string
	}{
		{"Selena Gomez", selena,
			"selena gomez selena marie gomez ( / sᵻˈliːnə ˈɡoʊmɛz / ; born july 22 , 1992 )",
			"selena gomez selena marie gomez is an american singer and actress. she began her career starring in the children"},
		{"Matt Lanter", matt,
			"matt lanter matthew mackendree `` matt '' lanter ( born april 1 , 1983 )",
			`matt lanter matthew mackendree "matt" lanter (born april 1, 1983) is an american`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := page(tt.html)
			for form, want := range map[Form]string{NciNorm: tt.nci, HtmlNorm: tt.html32} {
				got := strings.ToLower(strings.Join(strings.Fields(document(t, newSerializer(t, form, nil), r).String()), " "))
				if form == NciNorm { // NQ keeps the word within slashes as one token; the test does not
					got = strings.NewReplacer("s ᵻ ˈ l iː n ə ˈ ɡ oʊ m ɛ z", "sᵻˈliːnə ˈɡoʊmɛz").Replace(got)
				}
				if !strings.HasPrefix(got, want) {
					t.Errorf("%s:\n got %s\nwant %s", form, got, want)
				}
			}
		})
	}
}

const woods = `<TITLE>List of woods - Wikipedia</TITLE></HEAD><BODY>
<H1 id="firstHeading" class="firstHeading">List of woods</H1>
<DIV id="siteSub"></DIV><DIV id="jump-to-nav" class="mw-jump">Jump to: <A href="#a">navigation</A>, <A href="#b">search</A></DIV>
<P>This is a list of woods, in particular those most commonly used in the timber and lumber trade.</P>
<DIV id="toc" class="toc"><DIV class="toctitle"><H2>Contents</H2><SPAN class="toctoggle">[<A>hide</A>]</SPAN></DIV>
<UL><LI><A>1 Softwoods (coniferous)</A></LI><LI><A>2 Hardwoods (angiosperms)</A></LI></UL></DIV>
<H2><SPAN class="mw-headline">Softwoods (coniferous)</SPAN><SPAN class="mw-editsection">[<A>edit</A>]</SPAN></H2>
<UL>
<LI>Araucaria
<UL>
<LI><A>Hoop pine</A> (<I>Araucaria cunninghamii</I>)</LI>
<LI>Monkey puzzle tree (<I>Araucaria araucana</I>)</LI>
</UL>
</LI>
<LI>Cedar (<I>Cedrus</I>)</LI>
<LI>Celery-top pine (<I>Phyllocladus aspleniifolius</I>)</LI>
<LI>Cypress (<I>Chamaecyparis</I>, <I>Cupressus</I>, <I>Taxodium</I>)
<UL>
<LI>Lawson's cypress (<I>Chamaecyparis lawsoniana</I>)</LI>
</UL>
</LI>
<LI>Kauri (New Zealand) (<I>Agathis australis</I>)</LI>
</UL>
<H2>See also</H2><UL><LI>Janka hardness test</LI></UL></BODY>`

func TestPaperFigure(t *testing.T) {
	r := page(woods)
	for form, want := range map[Form]string{
		HtmlNorm: `List of woods
This is a list of woods, in particular those most commonly used in the timber and lumber trade.

Softwoods (coniferous)

- Araucaria
  - Hoop pine (Araucaria cunninghamii)
  - Monkey puzzle tree (Araucaria araucana)
- Cedar (Cedrus)
- Celery-top pine (Phyllocladus aspleniifolius)
- Cypress (Chamaecyparis, Cupressus, Taxodium)
  - Lawson's cypress (Chamaecyparis lawsoniana)
- Kauri (New Zealand) (Agathis australis)`,
		SimpleNorm: " List of woods  This is a list of woods , in particular those most commonly used in the timber and lumber trade . Contents ( hide ) 1 Softwoods ( coniferous ) 2 Hardwoods ( angiosperms ) Softwoods ( coniferous ) ( edit ) Araucaria Hoop pine ( Araucaria cunninghamii ) ",
		Simplified: "Jump to : navigation , search This is a list of woods , in particular",
	} {
		got := document(t, newSerializer(t, form, nil), r).String()
		if form == HtmlNorm && got != want || form == SimpleNorm && !strings.HasPrefix(got, want) || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", form, got, want)
		}
	}
	got := document(t, newSerializer(t, HtmlNorm, nil), r).Removed
	testkit.That(t, got.Footer == "See also" && got.Interface != 0 && got.AfterFooter == 5, "removed", got)
}

func TestPaperLists(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "ordered", html: "<ol>\n  <li>France</li>\n  <li>Japan</li>\n</ol>", want: "1. France\n2. Japan"},
		{name: "nested", html: "<ul><li>item<ul><li>nested item</li></ul></li></ul>", want: "- item\n  - nested item"},
		{name: "ordered items", html: "<ol><li>first item<li>second item</ol>", want: "1. first item\n2. second item"},
		{name: "definition", html: "<dl><dt>term</dt><dd>definition</dd></dl>", want: "term: definition"},
		{name: "definition without a term", html: "<dl><dd>definition</dd></dl>", want: "definition"},
	})
}

func TestPaperTables(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "attribute and value", html: "<table><tr><th>Born</th><td>July 1, 1900</td></tr><tr><th>Occupation</th><td>Physicist</td></tr></table>",
			want: "Born: July 1, 1900\nOccupation: Physicist"},
		{name: "header", html: "<table><tr><th>Country</th><th>Capital</th></tr><tr><td>France</td><td>Paris</td></tr><tr><td>Japan</td><td>Tokyo</td></tr></table>",
			want: "Country: France ; Capital: Paris\nCountry: Japan ; Capital: Tokyo"},
		{name: "single column", html: "<table><tr><td>one</td></tr><tr><td></td></tr><tr><td>two</td></tr></table>", want: "one\ntwo"},
		{name: "matrix", html: "<table><tr><td>value A</td><td>value B</td><td>value C</td></tr></table>", want: "value A ; value B ; value C"},
		{name: "empty", html: "<p>a</p><table><tr><td></td><td>\n</td></tr></table><p>b</p>", want: "a\nb"},
		{name: "interface only", html: "<p>a</p><table><tr><td>[edit]</td></tr></table><p>b</p>", want: "a\nb"},
	})
}

// Substitutions that the paper counts: HtmlNorm has the HTML's characters, the other forms the stored ones.
func TestPaperSubstitutions(t *testing.T) {
	for _, tt := range []struct{ html, stored, surface string }{
		{`say "yes" now`, "say `` yes '' now", `say "yes" now`},
		{"say &quot;yes&quot; now", "say `` yes '' now", `say "yes" now`},
		{"1–2", "1 -- 2", "1–2"},
		{"a—b", "a -- b", "a—b"},
		{"a[b]", "a ( b )", "a[b]"},
	} {
		r := page("<h1>T</h1><p>" + tt.html + "</p>")
		r.Split = nq.Train
		testkit.Is(t, document(t, newSerializer(t, Simplified, nil), r).String(), "T "+tt.stored, tt.html)
		testkit.Is(t, document(t, newSerializer(t, HtmlNorm, nil), r).Body, tt.surface, tt.html)
	}
}
