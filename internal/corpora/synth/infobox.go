package synth

import (
	"fmt"
	"strconv"
)

// notice writes a maintenance box or a sidebar.
func (w *writer) notice() {
	switch w.page.features.notice {
	case ambox:
		w.open(elTable, `class="plainlinks metadata ambox ambox-content"`, `role="presentation"`)
		w.raw("<TBODY>")
		w.row(
			func() { w.empty(elTd, `<IMG alt="" src="//upload.example.org/40px.png" width="40" height="40" />`) },
			func() {
				w.open(elTd, `class="mbox-text"`)
				w.text("This article ")
				w.bold("needs more sources about the " + w.topic.terms[3])
				w.text(". Please help to improve it. (March 2017)")
				w.close()
			},
		)
		w.raw("</TBODY>")
		w.closeLine()
	case sidebar:
		w.open(elTable, `class="vertical-navbox nowraplinks"`, `style="float:right"`)
		w.raw("<TBODY>")
		w.row(w.th(capital(w.topic.noun) + "s of " + w.topic.place))
		w.row(func() { w.in(elTd, w.bulletList) })
		w.raw("</TBODY>")
		w.closeLine()
	}
}

func (w *writer) infobox() {
	t := &w.topic
	label := []string{`scope="row"`, `style="white-space: nowrap"`}
	row := func(name string, value func()) {
		w.open(elTr)
		w.raw("\n")
		w.leaf(elTh, name, label...)
		w.raw("\n")
		w.in(elTd, value)
		w.closeBelow()
	}
	w.open(elTable, `class="infobox vevent"`, `style="width:22em"`)
	w.raw("\n<TBODY>")
	w.open(elTr)
	w.raw("\n")
	w.leaf(elTh, t.bare, `colspan="2"`, `class="summary"`, `style="text-align:center;font-size:125%;font-weight:bold"`)
	w.closeBelow()
	w.open(elTr)
	w.raw("\n")
	w.open(elTd, `colspan="2"`, `style="text-align:center"`)
	w.mixed(`<A href="/wiki/File:`+urlTitle(t.bare)+`.jpg" class="image"><IMG alt="" src="//upload.example.org/thumb/220px.jpg" width="220" height="293" /></A>`+"\n<DIV style=\"font-size: 95%\">",
		"View of the "+t.noun, "</DIV>\n")
	if w.page.features.infoboxParagraph {
		w.in(elP, func() { w.text("The " + t.noun + " in " + strconv.Itoa(t.year+1)) })
		w.raw("\n")
	}
	w.close()
	w.closeBelow()
	row("Location", func() { w.link(t.place) })
	row("Year", func() {
		w.mixed("", strconv.Itoa(t.year), `<SPAN style="display:none">`, fmt.Sprintf(" (%d-03-07)", t.year), "</SPAN>", " – present")
	})
	row("Known for", func() {
		w.raw("\n<DIV class=\"plainlist\">\n")
		w.open(elUl)
		for _, word := range t.words[:4] {
			w.raw("\n")
			w.in(elLi, func() { w.link(word) })
		}
		w.raw("\n")
		w.close()
		w.raw("\n</DIV>\n")
	})
	row("No. of "+t.terms[0]+"s", func() { w.text(strconv.Itoa(2 + w.r.n(90))) })
	w.raw("</TBODY>")
	w.closeLine()
}
