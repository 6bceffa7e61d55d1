package synth

import "strings"

// writer lays out one snapshot of a page.
type writer struct {
	*builder
	page  *page
	topic topic
	look  look
	r     *rng // the same for every snapshot of the page
	refs  int
}

// write lays the snapshot out and returns the beginning of its HtmlNorm text.
func (p *page) write(b *builder, l look) (opening string) {
	w := &writer{
		builder: b, page: p, look: l, topic: p.topic(int(l.revision)),
		r: &rng{mix(uint64(p.cfg.Seed), forBody, uint64(p.index), 1)},
	}
	chrome := min(p.htmlBytes*3/10, maxChrome)
	w.head(chrome)
	w.heading()
	b.article = true
	w.hatnote()
	w.notice()
	if p.features.infobox {
		w.infobox()
	}
	first := w.introduction()
	around := frameBytes
	if p.brief() {
		around = briefFrameBytes
	}
	sections := w.plan((p.htmlBytes - chrome - around) / blockBytes)
	b.article = false
	w.contents(sections)
	b.article = true
	for i, s := range sections {
		w.section(i, s)
	}
	for p.long && b.runes < 4200 {
		w.paragraph()
	}
	w.lateParagraph()
	w.closing()
	b.article = false
	w.frame()
	return w.topic.title + "\n" + first
}

// head writes everything up to the article: only the title line is tokenized.
func (w *writer) head(chrome int) {
	style := chromeCSS()[:chrome]
	w.raw("<!DOCTYPE html>\n<HTML class=\"client-js ve-not-available\" lang=\"en\" dir=\"ltr\"><HEAD>\n\n<TITLE>")
	w.text(w.topic.title)
	w.text(" - ")
	w.text("Wikipedia")
	if w.look.noise&lowerSite != 0 {
		w.tokens[len(w.tokens)-1].text = "wikipedia"
	}
	w.quoteOpen = false
	w.raw("</TITLE>\n\n\n<LINK rel=\"stylesheet\" href=\"/w/load.php?debug=false&amp;lang=en&amp;modules=site.styles&amp;only=styles&amp;skin=vector\" />\n\n<STYLE>\n",
		style[:chrome/2], "</STYLE><STYLE>\n", style[chrome/2:], "</STYLE>",
		"<SCRIPT>if (window.mw) { document.write(\"<P>scripts<\\/P>\"); }</SCRIPT>",
		"<META name=\"generator\" content=\"MediaWiki 1.31.0-wmf.22\" />\n<LINK rel=\"canonical\" href=\"https://en.wikipedia.org/wiki/", urlTitle(w.topic.title), "\" />\n</HEAD>\n",
		"<BODY class=\"mediawiki ltr sitedir-ltr mw-hide-empty-elt ns-0 ns-subject skin-vector action-view\">\t\t<DIV id=\"mw-page-base\" class=\"noprint\"></DIV>\n\t\t<DIV id=\"mw-head-base\" class=\"noprint\"></DIV>\n\t\t<DIV id=\"content\" class=\"mw-body\" role=\"main\">\n\t\t\t<A id=\"top\"></A>\n",
		"\t\t\t<DIV id=\"siteNotice\" class=\"mw-body-content\"><DIV id=\"centralNotice\"></DIV><!-- CentralNotice --></DIV><DIV class=\"mw-indicators mw-body-content\">\n</DIV>\n")
}

// heading writes the H1, whose tokens may have another case than its HTML, and
// the links below it.
func (w *writer) heading() {
	w.open(elH1, `id="firstHeading"`, `class="firstHeading"`, `lang="en"`)
	first := len(w.tokens)
	if i := strings.Index(w.topic.title, " ("); i >= 0 {
		w.italic(w.topic.title[:i])
		w.text(w.topic.title[i:])
	} else {
		w.text(w.topic.title)
	}
	if w.look.noise&headingNoise != 0 {
		changeCase(w.tokens[first:])
	}
	w.close()
	w.quoteOpen = false
	w.mixed("\t\t\t<DIV id=\"bodyContent\" class=\"mw-body-content\">\n\t\t\t\t<DIV id=\"siteSub\" class=\"noprint\">From Wikipedia, the free encyclopedia</DIV>\t\t\t\t<DIV id=\"contentSub\"></DIV>\n\t\t\t\t\t\t\t\t<DIV id=\"jump-to-nav\" class=\"mw-jump\">\n\t\t\t\t\t",
		"Jump to:", "\t\t\t\t\t<A href=\"#mw-head\">", "navigation", "</A>", ", ", "\t\t\t\t\t<A href=\"#p-search\">", "search",
		"</A>\n\t\t\t\t</DIV>\n\t\t\t\t<DIV id=\"mw-content-text\" lang=\"en\" dir=\"ltr\" class=\"mw-content-ltr\"><DIV class=\"mw-parser-output\">")
}

// changeCase turns the case of the first letter of the last word.
func changeCase(tokens []token) {
	for i := len(tokens) - 1; i >= 0; i-- {
		t := tokens[i].text
		if c := t[0] | 0x20; len(t) > 1 && 'a' <= c && c <= 'z' {
			tokens[i].text = string(t[0]^0x20) + t[1:]
			return
		}
	}
}

// collect returns the surface text that inside writes.
func (w *writer) collect(inside func()) string {
	var s strings.Builder
	w.lead = &s
	inside()
	w.lead = nil
	return s.String()
}

func (w *writer) hatnote() {
	if w.page.features.hatnote == noHatnote {
		return
	}
	w.raw(`<DIV role="note" class="hatnote navigation-not-searchable">`)
	if w.page.features.hatnote == about {
		w.text("This article is about the " + w.topic.noun + ". For the " + w.topic.adj + " place, see ")
		w.link(w.topic.bare + " Place")
	} else {
		w.text("For other uses, see ")
		w.link(w.topic.bare + " (disambiguation)")
	}
	w.text(".")
	w.raw("</DIV>\n")
}
