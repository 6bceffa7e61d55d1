package synth

import (
	"fmt"
	"strconv"
)

// footers are the sections that end an article.
var footers = []string{"See also", "References", "External links"}

// closing writes the sections after the article and its navigation boxes.
func (w *writer) closing() {
	w.sectionHeading(elH2, 90, footers[0])
	w.open(elUl)
	for range 3 {
		w.item(func() { w.link(name(w.r) + " " + pick(w.r, w.topic.words)) })
	}
	w.closeBelow()
	w.sectionHeading(elH2, 91, footers[1])
	w.raw("<DIV class=\"reflist\">\n")
	w.open(elOl, `class="references"`)
	for i := range w.refs {
		n := strconv.Itoa(i + 1)
		w.raw("\n")
		w.open(elLi, `id="cite_note-`+n+`"`)
		w.mixed(`<SPAN class="mw-cite-backlink"><B><A href="#cite_ref-`+n+`">`, "^",
			`</A></B></SPAN> <SPAN class="reference-text"><CITE class="citation web">`,
			name(w.r)+", "+string(rune('A'+w.r.n(26)))+`. "`+capital(pick(w.r, nouns))+" "+pick(w.r, nouns)+`". `)
		w.italic(name(w.r) + " " + capital(pick(w.r, nouns)))
		w.text(". Retrieved March " + strconv.Itoa(1+w.r.n(28)) + ", 2017.")
		w.raw("</CITE>")
		if !w.page.brief() {
			// What real references carry beside their text: metadata in an attribute.
			w.raw(`<SPAN title="ctx_ver=Z39.88-2004&amp;rft_val_fmt=info%3Aofi%2Ffmt%3Akev%3Amtx%3Ajournal&amp;rft.genre=unknown&amp;rft.jtitle=`,
				capital(pick(w.r, nouns)), `&amp;rft.atitle=`, pick(w.r, adjectives), "+", pick(w.r, nouns), "+", pick(w.r, nouns), `&amp;rft.date=2017-`, strconv.Itoa(10+w.r.n(3)), `&amp;rft.au=`, name(w.r),
				`&amp;rft_id=http%3A%2F%2Fwww.example.org%2F`, pick(w.r, nouns), `%2F`, strconv.Itoa(w.r.n(1_000_000)), `&amp;rfr_id=info%3Asid%2Fen.wikipedia.org%3A`, urlTitle(w.topic.bare), `" class="Z3988"><SPAN style="display:none;">&nbsp;</SPAN></SPAN>`)
		}
		w.raw("</SPAN>")
		w.close()
	}
	w.raw("\n")
	w.close()
	w.raw("</DIV>\n")
	w.sectionHeading(elH2, 92, footers[2])
	w.open(elUl)
	w.item(func() {
		w.mixed(`<A rel="nofollow" class="external text" href="http://www.example.org/">`, "Official website", "</A>")
	})
	w.closeBelow()
	w.navbox()
}

// navbox is a navigation box; what it lists may depend on the day it was rendered.
func (w *writer) navbox() {
	w.raw("<DIV role=\"navigation\" class=\"navbox\" style=\"padding:3px\">")
	w.open(elTable, `class="nowraplinks hlist collapsible autocollapse navbox-inner"`, `style="border-spacing:0"`)
	w.raw("<TBODY>")
	w.row(func() {
		w.open(elTh, `scope="col"`, `class="navbox-title"`, `colspan="2"`)
		w.raw(`<DIV class="plainlinks hlist navbar mini">`)
		w.open(elUl)
		for _, s := range []string{"v", "t", "e"} {
			w.raw("\n")
			w.in(elLi, func() {
				w.mixed(`<ABBR title="View">`, s, "</ABBR>")
			}, `class="nv-view"`)
		}
		w.raw("\n")
		w.close()
		w.mixed("</DIV><DIV style=\"font-size:114%\">", capital(w.topic.noun)+"s in "+w.topic.place, "</DIV>")
		w.close()
	})
	w.row(
		w.th("By decade", `scope="row"`, `class="navbox-group"`, `style="width:1%"`),
		func() {
			w.open(elTd, `class="navbox-list navbox-odd"`)
			w.open(elUl)
			first := 1930
			if w.page.volatile == late {
				first += 10 * int(w.look.render)
			}
			for decade := first; decade < 2000; decade += 10 {
				w.item(func() { w.link(fmt.Sprintf("%ds", decade)) })
			}
			w.raw("\n")
			w.close()
			w.close()
		},
	)
	w.row(func() {
		w.open(elTd, `class="navbox-abovebelow"`, `colspan="2"`)
		w.open(elUl)
		w.item(func() { w.linkTo("Category:"+w.topic.place, "Category") })
		w.close()
		w.close()
	})
	w.raw("</TBODY>")
	w.close()
	w.raw("</DIV>\n")
}

// frame writes the page around the article: links, categories, menus, licence.
func (w *writer) frame() {
	t := &w.topic
	oldid := strconv.Itoa(w.page.oldID(int(w.look.revision)))
	w.raw("</DIV>\n<NOSCRIPT><IMG src=\"//en.wikipedia.org/wiki/Special:CentralAutoLogin/start?type=1x1\" alt=\"\" /></NOSCRIPT></DIV>\t\t\t\t\t<DIV class=\"printfooter\">\n\t\t\t\t\t\t")
	w.text(`Retrieved from "`)
	address := "https://en.wikipedia.org/w/index.php?title=" + urlTitle(t.title) + "&oldid=" + oldid
	w.mixed(`<A dir="ltr" href="`+escaped.Replace(address)+`">`, address, "</A>", `"`,
		"\t\t\t\t\t</DIV>\n\t\t\t\t<DIV id=\"catlinks\" class=\"catlinks\"><DIV id=\"mw-normal-catlinks\" class=\"mw-normal-catlinks\">")
	w.linkTo("Help:Category", "Categories")
	w.text(": ")
	w.open(elUl)
	for _, c := range []string{capital(t.noun) + "s in " + t.place, strconv.Itoa(t.year) + " " + t.noun + "s"} {
		w.in(elLi, func() { w.linkTo("Category:"+c, c) })
	}
	w.close()
	w.raw("</DIV></DIV>\n\t\t\t</DIV>\n\t\t</DIV>\n")
	if !w.page.brief() {
		w.menus()
	}
	w.raw("\n\t\t<DIV id=\"footer\" role=\"contentinfo\">\n\t\t\t")
	w.open(elUl, `id="footer-info"`)
	w.raw("\n\t\t\t\t")
	w.leaf(elLi, fmt.Sprintf("This page was last edited on %d %s 2018, at 07:%02d.", 1+w.page.index%28, months[int(w.look.revision)], 10+w.page.index%50), `id="footer-info-lastmod"`)
	w.raw("\n\t\t\t\t")
	w.leaf(elLi, "Text is available under the made-up text license; additional terms may apply. Wikipedia® is a registered trademark of the Wikimedia Foundation, Inc., a non-profit organization.", `id="footer-info-copyright"`)
	w.raw("\n\t\t\t")
	w.close()
	w.raw("\n\t\t</DIV>\n</BODY></HTML>\n")
}

// menus are lists of links that have no tokens, but for some.
func (w *writer) menus() {
	w.raw("\t\t<DIV id=\"mw-navigation\">\n\t\t\t")
	w.empty(elH2, "Navigation menu")
	for _, menu := range []struct {
		id    string
		items []string
	}{
		{"p-personal", []string{"Talk", "Contributions"}}, {"p-namespaces", []string{"", ""}}, {"p-views", []string{"", "", ""}},
		{"p-navigation", []string{"", "Contents", "", ""}}, {"p-interaction", []string{"", "About Wikipedia", ""}},
		{"p-lang", []string{"Català", "Deutsch", "Español", "فارسی", "Русский", "中文"}},
	} {
		w.raw("\n\t\t\t<DIV role=\"navigation\" id=\"", menu.id, "\" class=\"portal\">\n\t\t\t")
		w.empty(elH3, "Menu")
		w.raw("\n\t\t\t")
		w.open(elUl)
		for _, item := range menu.items {
			w.raw("\n\t\t\t\t")
			if item == "" {
				w.empty(elLi, `<SPAN><A href="#">Menu</A></SPAN>`)
				continue
			}
			w.open(elLi)
			w.mixed(`<A href="#">`, item, "</A>")
			w.close()
		}
		w.raw("\n\t\t\t")
		w.close()
		w.raw("</DIV>")
	}
	w.raw("\n\t\t</DIV>\n")
}
