package nq

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// scanner walks one JSON text byte by byte. Each method consumes valid JSON and reports true, or reports false to leave the
// line to decodeLibrary. The caller checks that the text is valid UTF-8.
type scanner struct {
	b []byte
	p int
}

// maxDepth bounds nesting; NQ has four levels.
const maxDepth = 64

// ws skips JSON white space and returns the byte there, 0 at the end.
func (s *scanner) ws() byte {
	for s.p < len(s.b) {
		switch c := s.b[s.p]; c {
		case ' ', '\t', '\r', '\n':
			s.p++
		default:
			return c
		}
	}
	return 0
}

// lit consumes c after white space.
func (s *scanner) lit(c byte) bool {
	if s.ws() != c || s.p >= len(s.b) {
		return false
	}
	s.p++
	return true
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.p < len(w) || string(s.b[s.p:s.p+len(w)]) != w {
		return false
	}
	s.p += len(w)
	return true
}

const (
	lanes   = 0x0101010101010101
	high    = 0x8080808080808080
	spaces  = 0x20 * lanes
	quotes  = '"' * lanes
	slashes = '\\' * lanes
)

// plain counts bytes from i on up to a quote, backslash, control character or the end of a string.
func plain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// special marks the high bit of the first byte's lane where plain stops; 0: none. Later lanes may have borrows.
func special(w uint64) uint64 {
	q, e := w^quotes, w^slashes
	return ((w-spaces)&^w | (q-lanes)&^q | (e-lanes)&^e) & high
}

// appendPlain is plain and appends: copying words before looking is cheaper than copying short runs between escapes.
func appendPlain(dst, b []byte, i int) ([]byte, int) {
	k := len(dst)
	dst = dst[:cap(dst)]
	for ; i+8 <= len(b); i, k = i+8, k+8 {
		if len(dst)-k < 8 {
			dst = slices.Grow(dst[:k], 64)
			dst = dst[:cap(dst)]
		}
		w := binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(dst[k:], w)
		if m := special(w); m != 0 {
			n := bits.TrailingZeros64(m) >> 3
			return dst[:k+n], i + n
		}
	}
	end := plain(b, i)
	return append(dst[:k], b[i:end]...), end
}

// key consumes a string without escapes and returns its bytes in place.
func (s *scanner) key() ([]byte, bool) {
	if !s.lit('"') {
		return nil, false
	}
	i := plain(s.b, s.p)
	if i >= len(s.b) || s.b[i] != '"' {
		return nil, false
	}
	k := s.b[s.p:i]
	s.p = i + 1
	return k, true
}

// escaped are the characters that a letter behind a backslash stands for.
var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// str consumes a string and appends its value to dst.
func (s *scanner) str(dst []byte) ([]byte, bool) {
	if !s.lit('"') {
		return dst, false
	}
	b, p := s.b, s.p
	for {
		var i int
		dst, i = appendPlain(dst, b, p)
		if i+1 >= len(b) {
			return dst, false
		}
		if b[i] == '"' {
			s.p = i + 1
			return dst, true
		}
		if b[i] != '\\' {
			return dst, false
		}
		p = i + 2
		if c := escaped[b[i+1]]; c != 0 {
			dst = append(dst, c)
			continue
		}
		r, n := escape(b[p:])
		if b[i+1] != 'u' || n == 0 {
			return dst, false
		}
		p += n
		dst = utf8.AppendRune(dst, r)
	}
}

// escape decodes what follows "\u", surrogate pairs too, and returns its length, 0 for bad digits or half a pair.
func escape(b []byte) (rune, int) {
	r := hex4(b)
	if r < 0 {
		return 0, 0
	}
	if r < 0xD800 || r > 0xDFFF {
		return r, 4
	}
	if r > 0xDBFF || len(b) < 10 || b[4] != '\\' || b[5] != 'u' {
		return 0, 0
	}
	lo := hex4(b[6:])
	if lo < 0xDC00 || lo > 0xDFFF {
		return 0, 0
	}
	return (r-0xD800)<<10 | (lo - 0xDC00) + 0x10000, 10
}

// hex4 reads four hexadecimal digits, or returns -1.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// integer consumes a JSON integer that fits int64; others, fractions and exponents are left to the library.
func (s *scanner) integer() (int64, bool) {
	s.ws()
	b, p := s.b, s.p
	neg := p < len(b) && b[p] == '-'
	limit := uint64(1<<63 - 1)
	if neg {
		p++
		limit++
	}
	start, n := p, uint64(0)
	for p < len(b) && b[p]-'0' <= 9 {
		n = n*10 + uint64(b[p]-'0')
		if p++; p-start > 19 { // which fit uint64
			return 0, false
		}
	}
	if p == start || b[start] == '0' && p-start > 1 || n > limit || p < len(b) && (b[p] == '.' || b[p]|0x20 == 'e') {
		return 0, false
	}
	s.p = p
	if neg {
		return -int64(n), true
	}
	return int64(n), true
}

func (s *scanner) boolean() (v, ok bool) {
	switch s.ws() {
	case 't':
		return true, s.word("true")
	case 'f':
		return false, s.word("false")
	}
	return false, false
}

// skip consumes any value and checks its syntax.
func (s *scanner) skip(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch c := s.ws(); {
	case c == '{', c == '[':
		end := c + 2 // in ASCII
		s.p++
		if s.ws() == end {
			s.p++
			return true
		}
		for {
			if c == '{' && (s.ws() != '"' || !s.skipString() || !s.lit(':')) || !s.skip(depth+1) {
				return false
			}
			if !s.more() {
				return s.lit(end)
			}
		}
	case c == '"':
		return s.skipString()
	case c == 't', c == 'f':
		_, ok := s.boolean()
		return ok
	case c == 'n':
		return s.word("null")
	case c == '-' || '0' <= c && c <= '9':
		return s.skipNumber()
	}
	return false
}

// more consumes a comma and reports true, or stays before anything else.
func (s *scanner) more() bool {
	if s.ws() == ',' {
		s.p++
		return true
	}
	return false
}

func (s *scanner) skipString() bool {
	for s.p++; ; {
		i := plain(s.b, s.p)
		if i+1 >= len(s.b) {
			return false
		}
		switch s.p = i + 1; s.b[i] {
		case '"':
			return true
		case '\\':
			switch c := s.b[i+1]; {
			case escaped[c] != 0:
				s.p++
			case c == 'u' && hex4(s.b[i+2:]) >= 0:
				s.p += 5
			default:
				return false
			}
		default:
			return false
		}
	}
}

// skipNumber consumes a number: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *scanner) skipNumber() bool {
	if s.b[s.p] == '-' {
		s.p++
	}
	if s.p < len(s.b) && s.b[s.p] == '0' {
		s.p++
	} else if !s.digits() {
		return false
	}
	if s.p < len(s.b) && s.b[s.p] == '.' {
		s.p++
		if !s.digits() {
			return false
		}
	}
	if s.p < len(s.b) && s.b[s.p]|0x20 == 'e' {
		s.p++
		if s.p < len(s.b) && (s.b[s.p] == '+' || s.b[s.p] == '-') {
			s.p++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.p
	for s.p < len(s.b) && s.b[s.p]-'0' <= 9 {
		s.p++
	}
	return s.p > start
}
