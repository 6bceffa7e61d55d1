// Package escape makes text from outside safe to show: characters that a terminal would obey, or that would change the
// order of what it shows, are written as visible escapes. It must not know what the text is or where it goes.
//
// Line is for text where a line break would forge a line, Text where several lines are wanted. A text without such
// characters stays, so that escaping twice is escaping once, and so do backslashes: a text may look like an escape.
package escape

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line escapes a text for one line.
func Line(s string) string { return escape(s, Unsafe) }

// Text escapes a text of several lines: line feeds and tabs stay.
func Text(s string) string { return escape(s, unsafeInText) }

// Controls writes a text on one line of a file: only control characters change, to escapes, or blanks between words.
func Controls(s string) string {
	s = escape(s, func(r rune) bool { return unicode.IsControl(r) && !blank(r) })
	return strings.Map(func(r rune) rune {
		if blank(r) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", " "))
}

func blank(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }

// Unsafe reports whether a character may not reach a terminal: control characters, and format characters such as those
// that turn the direction of writing, but for joiners and the signs before Arabic numbers, as in scripts and emoji.
func Unsafe(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f:
		return false
	case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cs):
		return true
	case r == '\u200c', r == '\u200d':
		return false
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

func unsafeInText(r rune) bool { return r != '\n' && r != '\t' && Unsafe(r) }

func escape(s string, unsafe func(rune) bool) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	_ = write(&b, strings.NewReader(s), unsafe) // neither fails
	return b.String()
}

// Copy writes a text of several lines as Text does, without holding it.
func Copy(w io.Writer, r io.Reader) error { return write(w, r, unsafeInText) }

func write(w io.Writer, r io.Reader, unsafe func(rune) bool) error {
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	for {
		c, n, err := in.ReadRune()
		switch {
		case errors.Is(err, io.EOF):
			return out.Flush()
		case err != nil:
			return errors.Join(err, out.Flush())
		case c == utf8.RuneError && n == 1:
			if err := in.UnreadRune(); err != nil {
				return err
			}
			b, err := in.ReadByte()
			if err != nil {
				return err
			}
			fmt.Fprintf(out, `\x%02x`, b) // an error stays until Flush
		case unsafe(c):
			quoted := strconv.QuoteRuneToASCII(c)
			out.WriteString(quoted[1 : len(quoted)-1]) // \n, \x1b, \u202e
		default:
			out.WriteRune(c)
		}
	}
}

// JSON escapes in a JSON document what encoding/json leaves; the value stays the same.
func JSON(doc []byte) []byte {
	if !strings.ContainsFunc(string(doc), unsafeInText) {
		return doc
	}
	out := make([]byte, 0, len(doc)+16)
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		if r == utf8.RuneError && n == 1 || !unsafeInText(r) {
			out = append(out, doc[:n]...)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		doc = doc[n:]
	}
	return out
}
