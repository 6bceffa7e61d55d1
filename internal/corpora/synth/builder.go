package synth

import (
	"strings"
	"unicode/utf8"
)

// token is one entry of document_tokens; start and end are bytes of the HTML.
type token struct {
	text       string
	html       bool
	start, end int
}

// candidate is one entry of long_answer_candidates; tokens are [start, end).
type candidate struct {
	start, end int
	top        bool
}

// span is a range of tokens.
type span struct{ start, end int }

// builder writes HTML and, at the same time, the tokens that NQ stores for it.
type builder struct {
	html       []byte
	tokens     []token
	candidates []candidate
	article    bool // elements become candidates

	stack     []open
	depth     int  // open elements that may be candidates
	quoteOpen bool // the next '"' closes
	runes     int  // code points of the text tokens joined by blanks

	subs  *substitutions   // nil: not counted
	marks map[string]span  // answers
	lead  *strings.Builder // collects the surface text while it is set
}

type open struct {
	el        *element
	candidate int // index in candidates, -1 if it cannot be one
}

// element is an HTML element that NQ keeps as tokens.
type element struct {
	tag         string // as in document_html
	start, stop string // as in document_tokens
	candidate   bool
}

var (
	elTable = &element{"TABLE", "<Table>", "</Table>", true}
	elTr    = &element{"TR", "<Tr>", "</Tr>", true}
	elTh    = &element{"TH", "<Th>", "</Th>", false}
	elTd    = &element{"TD", "<Td>", "</Td>", false}
	elUl    = &element{"UL", "<Ul>", "</Ul>", true}
	elOl    = &element{"OL", "<Ol>", "</Ol>", true}
	elLi    = &element{"LI", "<Li>", "</Li>", true}
	elDl    = &element{"DL", "<Dl>", "</Dl>", true}
	elDt    = &element{"DT", "<Dt>", "</Dt>", true}
	elDd    = &element{"DD", "<Dd>", "</Dd>", true}
	elP     = &element{"P", "<P>", "</P>", true}
	elH1    = &element{"H1", "<H1>", "</H1>", false}
	elH2    = &element{"H2", "<H2>", "</H2>", false}
	elH3    = &element{"H3", "<H3>", "</H3>", false}
)

// raw writes HTML that has no tokens.
func (b *builder) raw(parts ...string) {
	for _, s := range parts {
		b.html = append(b.html, s...)
	}
}

// mixed writes HTML that has no tokens and text by turns.
func (b *builder) mixed(parts ...string) {
	for i, s := range parts {
		if i%2 == 0 {
			b.raw(s)
		} else {
			b.text(s)
		}
	}
}

// minCandidate is the number of tokens below which an element is not a candidate.
const minCandidate = 5

// open starts an element with attributes as in the HTML; NQ keeps
// colspan and rowspan only.
func (b *builder) open(el *element, attrs ...string) {
	start := len(b.html)
	b.raw("<", el.tag)
	stored := el.start
	for _, a := range attrs {
		b.raw(" ", a)
		if strings.HasPrefix(a, "colspan=") || strings.HasPrefix(a, "rowspan=") {
			stored = stored[:len(stored)-1] + " " + a + ">"
		}
	}
	b.raw(">")
	o := open{el: el, candidate: -1}
	if b.article && el.candidate {
		o.candidate = len(b.candidates)
		b.candidates = append(b.candidates, candidate{start: len(b.tokens), top: b.depth == 0})
		b.depth++
	}
	b.stack = append(b.stack, o)
	b.tokens = append(b.tokens, token{stored, true, start, len(b.html)})
}

// close ends the innermost element.
func (b *builder) close() {
	o := b.stack[len(b.stack)-1]
	b.stack = b.stack[:len(b.stack)-1]
	start := len(b.html)
	b.raw("</", o.el.tag, ">")
	b.tokens = append(b.tokens, token{o.el.stop, true, start, len(b.html)})
	if o.candidate >= 0 {
		b.depth--
		b.candidates[o.candidate].end = len(b.tokens)
	}
}

// closeLine ends the innermost element and the line, closeBelow on a line of its own.
func (b *builder) closeLine() {
	b.close()
	b.raw("\n")
}

func (b *builder) closeBelow() {
	b.raw("\n")
	b.closeLine()
}

// in writes an element around what inside writes.
func (b *builder) in(el *element, inside func(), attrs ...string) {
	b.open(el, attrs...)
	inside()
	b.close()
}

// leaf writes an element around plain text.
func (b *builder) leaf(el *element, text string, attrs ...string) {
	b.open(el, attrs...)
	b.text(text)
	b.close()
}

// empty writes an element of type el without content, with raw HTML inside.
func (b *builder) empty(el *element, inside string) {
	b.open(el)
	b.raw(inside)
	b.close()
}

// bold, italic and link write text inside markup that NQ drops.
func (b *builder) bold(text string) {
	b.mixed("<B>", text, "</B>")
}

func (b *builder) italic(text string) {
	b.mixed("<I>", text, "</I>")
}

func (b *builder) link(text string) { b.linkTo(text, text) }

func (b *builder) linkTo(target, text string) {
	b.mixed(`<A href="/wiki/`+urlTitle(target)+`" title="`+escaped.Replace(target)+`">`, text, "</A>")
}

// mark remembers the tokens of a possible short answer.
func (b *builder) mark(answer string, inside func()) {
	start := len(b.tokens)
	inside()
	b.marks[answer] = span{start, len(b.tokens)}
}

// token writes one text token whose surface is not what is stored.
func (b *builder) token(surface, stored string) {
	start := len(b.html)
	b.raw(escaped.Replace(surface))
	b.put(start, surface, stored)
}

// entity writes one text token from HTML that is not plain text.
func (b *builder) entity(html, surface, stored string) {
	start := len(b.html)
	b.raw(html)
	b.put(start, surface, stored)
}

func (b *builder) put(start int, surface, stored string) {
	b.tokens = append(b.tokens, token{stored, false, start, len(b.html)})
	b.runes += utf8.RuneCountInString(stored) + 1
	if b.lead != nil {
		b.lead.WriteString(surface)
	}
	if b.subs != nil {
		b.subs.add(surface, stored)
	}
}

// escaped writes text as NQ's HTML has it.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// finished are the candidates that are large enough, in order.
func (b *builder) finished() []candidate {
	kept := b.candidates[:0]
	for _, c := range b.candidates {
		if c.end-c.start >= minCandidate {
			kept = append(kept, c)
		}
	}
	return kept
}

// reset prepares for the next page and keeps the memory.
func (b *builder) reset(subs *substitutions) {
	*b = builder{
		html: b.html[:0], tokens: b.tokens[:0], candidates: b.candidates[:0], stack: b.stack[:0],
		marks: b.marks, subs: subs,
	}
	if b.marks == nil {
		b.marks = map[string]span{}
	}
	clear(b.marks)
}
