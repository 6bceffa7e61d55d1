package pipeline

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"
)

// The evaluator keeps every string in Unicode's form NFC, so that e followed by
// a combining accent becomes é, and the ångström sign becomes Å. A program that
// is given a file must get its bytes. So text that NFC would change is carried
// through evaluation in another spelling, which NFC leaves alone, and written
// plainly again where it leaves the evaluator: in configurations, addresses,
// paths and diagnostics.
//
// The spelling replaces characters that NFC could change or join to others, all
// of which are in the planes 0 to 2, by those of the planes 11 to 13 at the same
// place. Unicode has assigned nothing there. Where a text has such a character
// already, and it could be mistaken, literalMark is before it. A text that
// is in NFC is its own spelling.
const (
	carriedFrom = 0xB0000
	carriedTo   = 0xDFFFF
	literalMark = carriedFrom // would carry NUL, which is never carried
)

// carried spells a text so that NFC leaves it alone.
func carried(s string) string {
	if !needsCarrying(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	normal := norm.NFC.IsNormalString(s)
	for rest := s; rest != ""; {
		n := norm.NFC.NextBoundaryInString(rest, true)
		seg := rest[:n]
		rest = rest[n:]
		stable := normal && startsAlone(seg)
		for _, r := range seg {
			switch {
			case mistakable(r):
				b.WriteRune(literalMark)
				b.WriteRune(r)
			case !stable && unstable(r):
				b.WriteRune(r + carriedFrom)
			default:
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

func needsCarrying(s string) bool {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < utf8.RuneSelf
	}
	return !ascii && (!norm.NFC.IsNormalString(s) || !startsAlone(s) || strings.ContainsFunc(s, mistakable))
}

// startsAlone reports whether nothing before a text can be joined to its first
// character.
func startsAlone(s string) bool {
	return s == "" || norm.NFC.PropertiesString(s).BoundaryBefore()
}

// unstable reports whether NFC can change a character or join it to one before it.
func unstable(r rune) bool {
	s := string(r)
	return r < carriedFrom && (!norm.NFC.PropertiesString(s).BoundaryBefore() || norm.NFC.String(s) != s)
}

func mistakable(r rune) bool {
	return r == literalMark || r > carriedFrom && r <= carriedTo && unstable(r-carriedFrom)
}

// plain undoes carried; a text that was never carried is left as it is.
func plain(s string) string {
	// The characters of the planes 11 to 13 start with one of these bytes.
	if strings.IndexByte(s, 0xF2) < 0 && strings.IndexByte(s, 0xF3) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	literal := false
	for i, r := range s {
		switch {
		case literal:
			b.WriteRune(r)
			literal = false
		case r == literalMark:
			literal = true
		case r > carriedFrom && r <= carriedTo && unstable(r-carriedFrom):
			b.WriteRune(r - carriedFrom)
		case r == utf8.RuneError:
			_, n := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+n])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainEscapes undoes carried in a text that quotes values, as HCL and Go do: what
// is not printable is there as \UXXXXXXXX.
func plainEscapes(s string) string {
	if !strings.Contains(s, `\U000`) {
		return plain(s)
	}
	var b strings.Builder
	eachEscape(s, func(text string, r rune) {
		if r >= carriedFrom && r <= carriedTo {
			b.WriteRune(r)
			return
		}
		b.WriteString(text)
	})
	return plain(b.String())
}

// carriedSource spells the texts between a source's quotation marks, and in its
// here-documents, so that the parser keeps them as they are typed.
func carriedSource(src []byte, name string) []byte {
	if !needsCarrying(string(src)) && !mayEscape(string(src)) {
		return src
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // the parser reports what is wrong here
	var b strings.Builder
	from := 0
	for _, t := range tokens {
		var text string
		switch t.Type {
		case hclsyntax.TokenQuotedLit:
			text = carriedEscapes(carried(string(t.Bytes)))
		case hclsyntax.TokenStringLit:
			text = carried(string(t.Bytes))
		default:
			continue
		}
		b.Write(src[from:t.Range.Start.Byte])
		b.WriteString(text)
		from = t.Range.End.Byte
	}
	b.Write(src[from:])
	return []byte(b.String())
}

func mayEscape(s string) bool { return strings.Contains(s, `\u`) || strings.Contains(s, `\U`) }

// carriedEscapes spells what a quoted text, of HCL or JSON, escapes as \uXXXX or
// \UXXXXXXXX and NFC could change.
func carriedEscapes(s string) string {
	if !mayEscape(s) {
		return s
	}
	var b strings.Builder
	eachEscape(s, func(text string, r rune) {
		if r > 0 && unstable(r) {
			text = string(r + carriedFrom)
		}
		b.WriteString(text)
	})
	return b.String()
}

// eachEscape cuts a quoted text into escapes and what stands between them. The
// character of a \uXXXX or \UXXXXXXXX is given with it, for others it is -1.
func eachEscape(s string, f func(text string, r rune)) {
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			break
		}
		if i > 0 {
			f(s[:i], -1)
			s = s[i:]
		}
		n, r := 2, rune(-1)
		if long := map[byte]int{'u': 6, 'U': 10}[s[1]]; long > 0 && long <= len(s) {
			if x, err := strconv.ParseUint(s[2:long], 16, 31); err == nil {
				n, r = long, rune(x)
			}
		}
		f(s[:n], r)
		s = s[n:]
	}
	if s != "" {
		f(s, -1)
	}
}
