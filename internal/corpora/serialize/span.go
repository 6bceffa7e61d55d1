package serialize

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// next returns the span of the next unused text token. It counts and passes over spans outside the HTML.
func (s *scanner) next() (from, to int, ok bool) {
	for ; s.ti < len(s.toks); s.ti++ {
		t := &s.toks[s.ti]
		if t.HTML {
			continue
		}
		if t.Start < 0 || t.Start >= t.End || int(t.End) > len(s.html) {
			s.removed.SpansOutside++
			continue
		}
		return int(t.Start), int(t.End), true
	}
	return 0, 0, false
}

// consume passes over the tokens that begin before limit, for the given reason.
func (s *scanner) consume(limit int, why dropRule) {
	for {
		from, _, ok := s.next()
		if !ok || from >= limit {
			return
		}
		s.ti++
		switch why {
		case dropInterface:
			s.removed.Interface++
		case dropInfobox:
			s.removed.Infobox++
		case dropFooter:
			s.removed.AfterFooter++
		case dropBeforeTitle:
			s.removed.BeforeTitle++
		default:
			s.removed.Invisible++
		}
	}
}

// text takes the character data HTML[from:to].
func (s *scanner) text(from, to int) {
	switch {
	case s.rawText && !s.titleSeen: // NQ tokenises <title>
		s.consume(to, dropBeforeTitle)
		return
	case s.rawText:
		s.consume(to, dropInvisible)
		return
	case s.drop != keep:
		s.consume(to, s.drop)
		return
	case s.rules.TextSource == "html":
		s.allText(from, to)
		return
	}
	p := from
	if s.span.open {
		if end := min(to, s.span.end); p < end {
			s.span.raw = append(s.span.raw, s.html[p:end]...)
			p = end
		}
		if s.span.end > to {
			return
		}
		s.endSpan()
	}
	leaf := none
	for {
		start, end, ok := s.next()
		if !ok || start >= to {
			break
		}
		s.ti++
		if end <= p {
			// In a tag or a comment before this text, or behind the token before it.
			s.removed.Invisible++
			continue
		}
		start = max(start, p)
		space := s.spaced(s.html[p:start], p > from)
		if leaf == none {
			leaf = s.leaf()
		}
		if end > to {
			s.span = partial{open: true, token: s.ti - 1, raw: append(s.span.raw[:0], s.html[start:to]...), end: end, space: space, leaf: leaf}
			return
		}
		s.place(leaf, space, s.html[start:end], s.ti-1)
		p = end
	}
	if p < to && s.spaced(s.html[p:to], false) && !(leaf == none && s.top().inTable()) {
		if leaf == none {
			leaf = s.leaf()
		}
		s.nodes[leaf].after = true
	}
}

// spaced reports whether a stretch of character data stands for a blank: between two tokens, or between a token and a tag.
func (s *scanner) spaced(gap []byte, tokens bool) bool {
	switch {
	case s.rules.Gap == "any":
		return hasSpace(gap)
	case tokens:
		r, size := utf8.DecodeRune(gap)
		return size == len(gap) && unicode.Is(unicode.Zs, r)
	}
	return bytes.ContainsFunc(gap, unicode.IsSpace)
}

// endSpan places a token whose span holds a tag, without the tag: 's spans '</SPAN>s in the public record.
func (s *scanner) endSpan() {
	if !s.span.open {
		return
	}
	s.span.open = false
	s.place(s.span.leaf, s.span.space, s.span.raw, s.span.token)
}

// leaf returns the text node for text at this place: the last node, if nothing came in between.
func (s *scanner) leaf() int32 {
	if !s.top().inTable() {
		if last := s.nodes[s.parent()].last; last != none {
			if n := &s.nodes[last]; n.kind == textNode && int(n.b) == len(s.arena) {
				return last
			}
		}
	}
	at := int32(len(s.arena))
	return s.add(node{kind: textNode, a: at, b: at})
}

// place appends one token to a text node. The arena holds no two blanks in a row within a node.
func (s *scanner) place(leaf int32, space bool, raw []byte, token int) {
	n := &s.nodes[leaf]
	space = space || n.after
	n.after = false
	if n.a == n.b {
		n.before = n.before || space
	} else if space && s.arena[len(s.arena)-1] != ' ' {
		s.arena = append(s.arena, ' ')
	}
	if s.rules.TextSource == "stored" {
		raw = append(s.span.raw[:0], s.toks[token].Text...)
	}
	s.arena = s.norm.append(s.arena, int(n.a), raw, s.rules.Options)
	n.b = int32(len(s.arena))
	n.tokens++
	s.placed++
}

// allText takes visible text whether NQ tokenised it or not.
func (s *scanner) allText(from, to int) {
	rawText := s.html[from:to]
	if s.top().inTable() && len(bytes.TrimSpace(rawText)) == 0 {
		return
	}
	n := &s.nodes[s.leaf()]
	s.arena = s.norm.append(s.arena, int(n.a), rawText, s.rules.Options)
	n.b = int32(len(s.arena))
	for {
		start, _, ok := s.next()
		if !ok || start >= to {
			return
		}
		s.ti++
		n.tokens++
		s.placed++
	}
}

func (s *scanner) tokensIn(id int32) int {
	n := int(s.nodes[id].tokens)
	for c := s.nodes[id].first; c != none; c = s.nodes[c].next {
		n += s.tokensIn(c)
	}
	return n
}

// normalizer recovers a span's surface form: entities resolved, Unicode normalized, Unicode's white space joined, which
// includes no-break and hair spaces and excludes zero-width spaces.
type normalizer struct{ buf []byte }

// append adds the text of raw to dst, whose end from dst[from:] on gets no two blanks in a row.
func (z *normalizer) append(dst []byte, from int, raw []byte, o *Options) []byte {
	if plain(raw) {
		return append(dst, raw...)
	}
	if bytes.IndexByte(raw, '&') >= 0 && o.TextSource != "stored" {
		raw = []byte(html.UnescapeString(string(raw)))
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if o.Normalize == "nfkc" && !norm.NFKC.IsNormal(raw) {
		z.buf = norm.NFKC.Append(z.buf[:0], raw...)
		raw = z.buf
	}
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case unicode.IsSpace(r):
			if len(dst) == from || dst[len(dst)-1] != ' ' {
				dst = append(dst, ' ')
			}
		case o.Control == "keep" || unicode.IsGraphic(r):
			dst = append(dst, raw[i:i+size]...)
		}
		i += size
	}
	return dst
}

// plain reports whether raw is its own recovered form: ASCII without entities and white space.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c >= 0x7f || c <= ' ' || c == '&' {
			return false
		}
	}
	return true
}

// hasSpace reports whether character data holds white space once its entities are resolved.
func hasSpace(raw []byte) bool {
	for i, c := range raw {
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			return true
		case c == '&' || c >= utf8.RuneSelf:
			return strings.ContainsFunc(html.UnescapeString(string(raw[i:])), unicode.IsSpace)
		}
	}
	return false
}
