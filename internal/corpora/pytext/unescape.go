package pytext

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var numeric = regexp.MustCompile(`&#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?`)

// Unescape is Python's html.unescape, which unlike html.UnescapeString leaves out references to
// control characters and to code points that are no characters, and replaces those beyond Unicode.
func Unescape(s string) string {
	if !strings.Contains(s, "&#") {
		return html.UnescapeString(s)
	}
	var b strings.Builder
	from := 0
	for _, at := range numeric.FindAllStringSubmatchIndex(s, -1) {
		digits, base := at[2:4], 16
		if at[2] < 0 {
			digits, base = at[4:6], 10
		}
		n, err := strconv.ParseUint(s[digits[0]:digits[1]], base, 32)
		beyond := err != nil || n > unicode.MaxRune
		control := n < ' ' && !strings.ContainsRune("\x00\t\n\f\r", rune(n)) || n == 0x7f
		if !beyond && !control && n&0xfffe != 0xfffe && (n < 0xfdd0 || n > 0xfdef) {
			continue
		}
		b.WriteString(html.UnescapeString(s[from:at[0]]))
		if from = at[1]; beyond {
			b.WriteRune(unicode.ReplacementChar)
		}
	}
	b.WriteString(html.UnescapeString(s[from:]))
	return b.String()
}
