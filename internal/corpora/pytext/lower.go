// Package pytext has Python's functions of texts that differ from Go's: the code that the paper describes is Python. It must
// not know what the texts are.
package pytext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lower is Python's str.lower. Unlike strings.ToLower it applies Unicode's SpecialCasing: "İ" becomes "i̇" (two code
// points), and "Σ" ending a word becomes "ς" (CPython's handle_capital_sigma).
//
// NOTE: characters newer than Python's Unicode tables (14.0 in 3.11) follow Go's.
func Lower(s string) string {
	if strings.IndexByte(s, "İ"[0]) < 0 && strings.IndexByte(s, "Σ"[0]) < 0 {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i, r := range s {
		switch r {
		case 'İ':
			b.WriteString("i\u0307")
		case 'Σ':
			if endsWord(s[:i], s[i+utf8.RuneLen(r):]) {
				b.WriteRune('ς')
			} else {
				b.WriteRune('σ')
			}
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// endsWord is SpecialCasing's Final_Sigma: a cased letter before and none after, past case-ignorable characters.
func endsWord(before, after string) bool {
	for before != "" {
		r, n := utf8.DecodeLastRuneInString(before)
		before = before[:len(before)-n]
		if caseIgnorable(r) {
			continue
		}
		if !cased(r) {
			return false
		}
		for _, r := range after {
			if !caseIgnorable(r) {
				return !cased(r)
			}
		}
		return true
	}
	return false
}

// cased is the property Cased; U+0295 is a lower-case letter in Python's tables, up to Unicode 15.
func cased(r rune) bool {
	return r == 0x295 || unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
}

// caseIgnorable is the property Case_Ignorable: marks, format characters, modifiers, and Word_Break MidLetter, MidNumLet
// and Single_Quote (Unicode annex 29).
func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '\u00b7', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
