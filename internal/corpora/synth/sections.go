package synth

import (
	"strconv"
	"strings"
)

// Sizes in bytes of HTML, for planning: what surrounds the sections, on a brief
// page and on others, and a block with its references.
const (
	briefBytes      = 14_000 // a page below it is brief
	briefFrameBytes = 8_000
	frameBytes      = 12_500
	blockBytes      = 1_500
)

// brief pages do without menus and the like.
func (p *page) brief() bool { return p.htmlBytes < briefBytes }

// section is a heading and the blocks below it.
type section struct {
	heading string
	level   int // 2 or 3
	blocks  []func(*writer)
}

// blocks are the kinds of content, in the order in which a page takes its turns.
var blocks = []func(*writer){
	(*writer).paragraph,
	(*writer).bulletList,
	(*writer).keyValueTable,
	(*writer).paragraph,
	(*writer).nestedList,
	(*writer).headerTable,
	(*writer).paragraph,
	(*writer).numberedList,
	(*writer).characters,
	(*writer).matrixTable,
	(*writer).paragraph,
	(*writer).definitions,
	(*writer).singleColumnTable,
	(*writer).figure,
	(*writer).paragraph,
	(*writer).spanTable,
	(*writer).quotation,
	(*writer).nestedTable,
	(*writer).oddMarkup,
}

// plan chooses n blocks and the headings above them, before the contents are
// written.
func (w *writer) plan(n int) []section {
	n = max(n, 1)
	turn := w.r.n(len(blocks))
	var list []section
	for n > 0 {
		s := section{level: 2, heading: capital(pick(w.r, adjectives)) + " " + pick(w.r, nouns)}
		if len(list) > 0 && w.r.chance(35) {
			s.level = 3
			s.heading = capital(pick(w.r, w.topic.words)) + " and " + pick(w.r, w.topic.terms)
		}
		for range min(n, 1+w.r.n(3)) {
			s.blocks = append(s.blocks, blocks[turn%len(blocks)])
			turn++
			n--
		}
		list = append(list, s)
	}
	return list
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func anchor(s string) string { return strings.ReplaceAll(s, " ", "_") }

// contents writes the table of contents, if there is enough to list.
func (w *writer) contents(list []section) {
	if len(list) < 3 {
		return
	}
	w.empty(elP, "")
	w.raw("\n<DIV id=\"toc\" class=\"toc\">\n<DIV class=\"toctitle\" lang=\"en\" dir=\"ltr\" xml:lang=\"en\">\n")
	w.leaf(elH2, "Contents")
	w.mixed("\n<SPAN class=\"toctoggle\">", " [", `<A role="button" tabindex="0" class="togglelink">`, "hide", "</A>", "] ", "</SPAN></DIV>\n")
	w.open(elUl)
	w.raw("\n")
	major, minor := 0, 0
	entry := func(level, n int, number, heading string) {
		w.open(elLi, `class="toclevel-`+strconv.Itoa(level)+" tocsection-"+strconv.Itoa(n)+`"`)
		w.mixed(`<A href="#`+anchor(heading)+`"><SPAN class="tocnumber">`, number, `</SPAN> <SPAN class="toctext">`, heading, "</SPAN></A>")
	}
	for i, s := range list {
		if s.level == 2 {
			if minor > 0 {
				w.close() // the nested list
				w.raw("\n")
			}
			if major > 0 {
				w.closeLine()
			}
			major, minor = major+1, 0
			entry(1, i+1, strconv.Itoa(major), s.heading)
			continue
		}
		if minor == 0 {
			w.raw("\n")
			w.open(elUl)
			w.raw("\n")
		}
		minor++
		entry(2, i+1, strconv.Itoa(major)+"."+strconv.Itoa(minor), s.heading)
		w.closeLine()
	}
	if minor > 0 {
		w.closeLine()
	}
	w.closeLine()
	for i, heading := range footers {
		entry(1, len(list)+i+1, strconv.Itoa(major+i+1), heading)
		w.closeLine()
	}
	w.close()
	w.raw("\n</DIV>\n")
	w.empty(elP, "")
	w.raw("\n")
}

// title of a section with its edit link, which NQ tokenizes as "( edit )".
func (w *writer) sectionHeading(el *element, n int, heading string) {
	w.open(el)
	w.mixed(`<SPAN class="mw-headline" id="`+anchor(heading)+`">`, heading,
		`</SPAN><SPAN class="mw-editsection"><SPAN class="mw-editsection-bracket">`, "[",
		`</SPAN><A href="/w/index.php?title=`+urlTitle(w.topic.title)+`&amp;action=edit&amp;section=`+strconv.Itoa(n)+`" title="Edit section: `+heading+`">`,
		"edit", `</A><SPAN class="mw-editsection-bracket">`, "]", "</SPAN></SPAN>")
	w.closeLine()
}

func (w *writer) section(n int, s section) {
	el := elH2
	if s.level == 3 {
		el = elH3
	}
	w.sectionHeading(el, n+1, s.heading)
	if w.r.chance(15) {
		w.raw(`<DIV role="note" class="hatnote navigation-not-searchable">`)
		w.text("Main article: ")
		w.link(name(w.r) + " " + pick(w.r, nouns))
		w.raw("</DIV>\n")
	}
	for _, write := range s.blocks {
		write(w)
	}
}

// figure is a thumbnail with a caption.
func (w *writer) figure() {
	w.raw("<DIV class=\"thumb tright\">\n<DIV class=\"thumbinner\" style=\"width:222px;\"><A href=\"/wiki/File:", capital(pick(w.r, nouns)), ".jpg\" class=\"image\"><IMG alt=\"\" src=\"//upload.example.org/thumb/220px.jpg\" width=\"220\" height=\"139\" class=\"thumbimage\" /></A>\n<DIV class=\"thumbcaption\">\n<DIV class=\"magnify\"><A href=\"/wiki/File:X.jpg\" class=\"internal\" title=\"Enlarge\"></A></DIV>\n")
	w.text("The " + pick(w.r, w.topic.words) + " (left) and the " + pick(w.r, nouns) + " in " + strconv.Itoa(w.topic.year+w.r.n(90)))
	w.raw("</DIV>\n</DIV>\n</DIV>\n")
	w.paragraph()
}

func (w *writer) quotation() {
	w.raw("<BLOCKQUOTE class=\"templatequote\">\n")
	w.in(elP, func() {
		w.text("“" + capital(pick(w.r, w.topic.words)) + "’s " + pick(w.r, w.topic.terms) + " wasn't " + pick(w.r, verbs) + " — it’s " + pick(w.r, adjectives) + "…”")
	})
	w.mixed("\n<CITE>", "— "+w.topic.helper+", ‘"+capital(pick(w.r, nouns))+"’, "+strconv.Itoa(w.topic.year+w.r.n(50)),
		"</CITE></BLOCKQUOTE>\n")
}

// characters is a paragraph of what normalization, entities and tokenization make
// difficult.
func (w *writer) characters() {
	t := &w.topic
	w.open(elP)
	w.text("About ½ of the " + pick(w.r, t.words) + " weighs ")
	w.token("1 1/2", "1 1/2") // a blank inside a token: "1_1/2" in the simplified text
	w.text(" kg, a ﬁne (ｆｕｌｌ) " + pick(w.r, nouns) + " measures 12\u00a0km² and x² − 4… of ")
	w.token("10\u00a0000", "10\u00a0000")
	w.text(" ")
	w.token("Mon\u180egol", "Mon\u180egol")
	w.text(" words, e.g. 𐍈𐌰 and 𝒳 × 2. The ")
	w.entity("caf&eacute", "café", "café")
	w.text(" has rooms")
	w.raw("&nbsp;&nbsp")
	w.text("3")
	w.entity("&ndash;", "–", "--")
	w.text("7 ")
	w.entity("&amp", "&", "&")
	w.text(" 9, {R} and R")
	w.entity("&#38;", "&", "&")
	w.mixed("", "D; 5 < 7 > 3.", " <I>", capital(pick(w.r, nouns)), `<SPAN style="padding-left:0.1em;">`)
	w.entity(`&#39;</SPAN>s`, "'</SPAN>s", "'s") // markup inside a token
	w.raw("</I>")
	w.text(" " + pick(w.r, nouns) + " Straße İzmir naïve.")
	w.closeLine()
}

// oddMarkup has gaps that hold more than white space: comments, line breaks,
// scripts, elements without text.
func (w *writer) oddMarkup() {
	t := &w.topic
	w.mixed("<!-- <P>not a paragraph</P> --><DIV class=\"plainlinks\"><CENTER>", capital(pick(w.r, t.words))+" line one", "<BR />", "line two",
		"</CENTER></DIV><SCRIPT>var t = \"<TABLE><TR>\";</SCRIPT>\n")
	w.open(elP)
	w.text("The ")
	w.raw("<B>")
	split := t.words[0][:1] + "</B>" + t.words[0][1:]
	w.entity(split, split, t.words[0])
	w.text(" of ")
	w.raw("<!-- a comment -->")
	w.italic(t.words[1])
	w.raw("<SPAN></SPAN>")
	w.text(" H")
	w.raw("<SUB>2</SUB>") // text that NQ does not tokenize
	w.mixed("", "O was ", "\n", pick(w.r, verbs), `<SUP class="noprint Inline-Template">`, "[")
	w.italic("citation needed")
	w.text("]")
	w.raw("</SUP>")
	w.text(".")
	w.closeLine()
	w.empty(elP, "<BR />")
	w.raw("\n")
	w.open(elUl)
	w.empty(elLi, "<SPAN></SPAN>")
	w.closeLine()
	w.paragraph()
}
