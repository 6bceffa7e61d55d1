package serialize

import (
	"bytes"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// scanner builds a record's tree, reusably: HTML tokens give structure, NQ's tokens the spans of recovered text.
type scanner struct {
	rules *rules
	norm  normalizer
	out   writer

	html  []byte
	toks  []nq.Token
	ti    int // next token, HTML ones not yet passed over
	nodes []node
	arena []byte // recovered text of all text nodes
	stack []open

	drop    dropRule // why the open elements are removed
	dropAt  int      // position of the removed element
	rawText bool     // in script, style, title, …
	stopped bool     // a footer's heading has ended

	title                                         int32 // its node, inside the nodes before it; 0: there is none
	titleSeen, sawSection, sawTable, sawParagraph bool

	span    partial
	placed  int // tokens in the arena
	removed Removed
}

// partial is a token whose span continues behind a tag.
type partial struct {
	open  bool
	token int // its place among the record's
	raw   []byte
	end   int
	space bool // white space before it
	leaf  int32
}

func newScanner(r *rules) *scanner {
	s := &scanner{rules: r}
	s.out.s = s
	return s
}

// scan reads the record up to its footer, and arranges its sections.
func (s *scanner) scan(r *nq.Record) {
	hasTitle := bytes.Contains(r.HTML, []byte("<H1")) || bytes.Contains(r.HTML, []byte("<h1"))
	s.once(r, !hasTitle)
	if !s.titleSeen {
		s.once(r, true) // "<h1" stood in a comment, a script or a removed element
	}
	s.removed.NoTitle = !hasTitle || s.removed.NoTitle
	s.arrange()
}

// once reads the record; titleSeen says that no title follows.
func (s *scanner) once(r *nq.Record, titleSeen bool) {
	s.html, s.toks, s.ti = r.HTML, r.Tokens, 0
	s.nodes = append(s.nodes[:0], rootNode)
	s.arena, s.stack = s.arena[:0], s.stack[:0]
	s.drop, s.rawText, s.stopped, s.title = keep, false, false, 0
	s.titleSeen, s.sawSection, s.sawTable, s.sawParagraph = titleSeen, false, false, false
	s.span, s.placed = partial{raw: s.span.raw[:0]}, 0
	s.removed = Removed{NoTitle: titleSeen}

	z := html.NewTokenizer(bytes.NewReader(r.HTML))
	pos := 0
	for !s.stopped {
		kind := z.Next()
		from := pos
		pos += len(z.Raw())
		switch kind {
		case html.ErrorToken: // io.EOF; an unfinished tag at the end is not text
			s.finish(dropInvisible)
			return
		case html.TextToken:
			s.text(from, pos)
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			a := atom.Lookup(name)
			if a == atom.Noscript {
				z.NextIsNotRawText() // its content is markup, and NQ's tokens may be in it
			}
			switch el := elementOf[a]; el {
			case ignored, void:
			case raw:
				s.rawText = true // until its end tag, also after "<script/>"
			default:
				at := s.attributes(z, el, more)
				s.startTag(a, el, &at)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			switch el := elementOf[a]; el {
			case raw:
				s.rawText = false
			case ignored, void, rule:
			default:
				s.endTag(a, el)
			}
		}
	}
	s.finish(dropFooter)
}

// finish closes what is open and counts the tokens that no text reached.
func (s *scanner) finish(why dropRule) {
	s.endSpan()
	stopped := s.stopped
	s.stopped = true // a heading that the end of input closes is not a footer: nothing follows it
	s.pop(0)
	s.stopped = stopped
	s.consume(len(s.html), why)
}

func (s *scanner) attributes(z *html.Tokenizer, el element, more bool) attributes {
	at := attributes{rowspan: 1, colspan: 1, start: 1}
	if s.drop != keep || !s.readsAny(z.Raw(), el) {
		return at
	}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "id":
			at.id = value
		case "class":
			at.class = value
		case "rowspan":
			at.rowspan = number(value, 1, 1, 65534)
		case "colspan":
			at.colspan = number(value, 1, 1, 1000)
		case "start":
			at.start = number(value, 1, -1<<30, 1<<30)
		}
	}
	if el != list {
		at.start = 1
	}
	return at
}

// readsAny reports whether a tag may have one of attributes: others, such as href, are not worth two allocations.
func (s *scanner) readsAny(tag []byte, el element) bool {
	for {
		i := bytes.IndexByte(tag, '=')
		if i < 0 {
			return false
		}
		name := bytes.TrimRight(tag[:i], " \t\n\f\r")
		if endsIn(name, "id") || endsIn(name, "class") ||
			el == cell && (endsIn(name, "rowspan") || endsIn(name, "colspan")) ||
			el == list && endsIn(name, "start") {
			return true
		}
		tag = tag[i+1:]
	}
}

// endsIn reports whether b ends in the lower-case word, in any case.
func endsIn(b []byte, word string) bool {
	return bytes.EqualFold(b[max(0, len(b)-len(word)):], []byte(word))
}

// number reads an integer as HTML does (leading blanks, sign, trailing rubbish). Without one, or below low, it is fallback.
func number(value []byte, fallback, low, high int32) int32 {
	value = bytes.TrimLeft(value, " \t\n\f\r")
	digits, positive := bytes.CutPrefix(value, []byte("+"))
	if !positive {
		digits = bytes.TrimPrefix(value, []byte("-"))
	}
	rest := bytes.TrimLeft(digits, "0123456789")
	if len(rest) == len(digits) {
		return fallback
	}
	n, _ := strconv.ParseInt(string(value[:len(value)-len(rest)]), 10, 32) // the nearest where it does not fit
	if n < int64(low) {
		return fallback
	}
	return int32(min(n, int64(high)))
}
