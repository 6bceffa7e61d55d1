package nq

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// tokens consumes document_tokens. Texts go to the arena; finish links them.
func (l *lineScanner) tokens(r *Record) bool {
	s := &l.s
	if !s.lit('[') {
		return false
	}
	if s.ws() == ']' {
		s.p++
		return true
	}
	if cap(r.Tokens) == 0 {
		r.Tokens = make([]Token, 0, (len(s.b)-s.p)/128) // a token takes about 90 bytes of a line
	}
	l.ends = append(l.ends, len(l.arena))
	for {
		l.published(r)
		var t Token
		if !l.token(&t) {
			return false
		}
		r.Tokens = append(r.Tokens, t)
		l.ends = append(l.ends, len(l.arena))
		if !s.more() {
			return s.lit(']')
		}
		if s.p < len(s.b) && s.b[s.p] == ' ' {
			s.p++
		}
	}
}

// publishedRoom is more than what published reads of a token besides its text.
const publishedRoom = 96

// Values of html_token as the upper bytes of a word.
var (
	wordTrue  = binary.LittleEndian.Uint64([]byte("\x00\x00\x00\x00true"))
	wordFalse = binary.LittleEndian.Uint64([]byte("\x00\x00\x00false"))
)

// published consumes tokens laid out as in every published file: four fields in alphabetical order, one blank behind each
// colon and comma. It stops before the last token and before any other layout. Its comparisons are short enough to compile
// to loads.
func (l *lineScanner) published(r *Record) {
	b, p := l.s.b, l.s.p
	arena, ends, tokens := l.arena, l.ends, r.Tokens
	for len(b)-p >= publishedRoom && string(b[p:p+13]) == `{"end_byte": ` {
		i := p + 13
		end, n := digits(binary.LittleEndian.Uint64(b[i:]))
		i += n
		if n == 0 || string(b[i:i+16]) != `, "html_token": ` {
			break
		}
		i += 16
		w, want := binary.LittleEndian.Uint64(b[i:]), wordFalse
		n = 5
		html := byte(w) == 't'
		if html { // a conditional move: which it is, is hard to predict
			n, want = 4, wordTrue
		}
		if i += n; w<<(64-8*n&63) != want || string(b[i:i+16]) != `, "start_byte": ` {
			break
		}
		i += 16
		start, n := digits(binary.LittleEndian.Uint64(b[i:]))
		i += n
		if n == 0 || string(b[i:i+12]) != `, "token": "` {
			break
		}
		i += 12
		// Most texts end within a word.
		if cap(arena)-len(arena) < 8 {
			arena = slices.Grow(arena, 1<<10)
		}
		mark := len(arena)
		w = binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(arena[mark:mark+8], w)
		n = bits.TrailingZeros64(special(w)) >> 3
		if n < 8 && b[i+n] == '"' {
			arena, i = arena[:mark+n], i+n
		} else {
			var ok bool
			l.s.p = i - 1
			if arena, ok = l.s.str(arena); !ok {
				arena = arena[:mark]
				break
			}
			i = l.s.p - 1
		}
		if len(b)-i < 4 || string(b[i:i+4]) != `"}, ` {
			arena = arena[:mark]
			break
		}
		tokens = append(tokens, Token{HTML: html, Start: start, End: end})
		ends = append(ends, len(arena))
		p = i + 4
	}
	l.s.p, l.arena, l.ends, r.Tokens = p, arena, ends, tokens
}

// digits reads one to seven digits at a word's start and returns their number, 0 for anything else.
func digits(w uint64) (v int32, n int) {
	x := w ^ '0'*lanes
	n = bits.TrailingZeros64((x+(0x80-10)*lanes|x)&high) >> 3
	if n == 0 || n == 8 || byte(x) == 0 && n > 1 {
		return 0, 0
	}
	// Zeros before the digits; then pairs, fours and all eight are summed.
	x <<= (64 - 8*n) & 63
	x = x*10 + x>>8
	const fours = 0x000000FF000000FF
	x = (x&fours*(1000000<<32+100) + x>>16&fours*(10000<<32+1)) >> 32
	return int32(x), n
}

// token consumes a token in any order of fields.
func (l *lineScanner) token(t *Token) bool {
	s := &l.s
	if !s.lit('{') {
		return false
	}
	var have fieldSet
	for {
		k, ok := s.key()
		if !ok || !s.lit(':') {
			return false
		}
		var f fieldSet
		var v int64
		switch string(k) {
		case nameEnd:
			f = hasURL
			v, ok = s.integer()
			t.End = int32(v)
		case nameStart:
			f = hasTitle
			v, ok = s.integer()
			t.Start = int32(v)
		case nameHTMLToken:
			f = hasHTML
			t.HTML, ok = s.boolean()
		case nameToken:
			f = hasText
			l.arena, ok = s.str(l.arena)
		default:
			ok = s.skip(0)
		}
		if !ok || have&f != 0 || v != int64(int32(v)) {
			return false
		}
		have |= f
		if !s.more() {
			return have == hasURL|hasTitle|hasHTML|hasText && s.lit('}')
		}
	}
}
