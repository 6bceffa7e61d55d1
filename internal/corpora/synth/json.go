package synth

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// line builds JSON as the published files have it: ", " and ": " between values,
// everything but printable ASCII escaped.
type line struct{ b []byte }

func (l *line) raw(parts ...string) {
	for _, s := range parts {
		l.b = append(l.b, s...)
	}
}

// field writes `"name": n`, after ", " unless it is the first.
func (l *line) field(name string, n int) {
	if c := l.b[len(l.b)-1]; c != '{' {
		l.raw(", ")
	}
	l.raw(`"`, name, `": `, strconv.Itoa(n))
}

const hexDigits = "0123456789abcdef"

func (l *line) escape(r rune) {
	l.b = append(l.b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

func (l *line) string(s string) {
	l.b = append(l.b, '"')
	l.chars(s)
	l.b = append(l.b, '"')
}

// chars writes the inside of a string.
func (l *line) chars(s string) {
	plain := 0
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		l.b = append(l.b, s[plain:i]...)
		n := 1
		switch {
		case c == '"' || c == '\\':
			l.b = append(l.b, '\\', c)
		case c == '\n':
			l.raw(`\n`)
		case c == '\t':
			l.raw(`\t`)
		case c < utf8.RuneSelf:
			l.escape(rune(c))
		default:
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
				l.escape(hi)
				l.escape(lo)
			} else {
				l.escape(r)
			}
		}
		i += n
		plain = i
	}
	l.b = append(l.b, s[plain:]...)
}
