package render

import (
	"math"
	"strconv"
	"strings"
)

// Expected returns what an Expectation of this cell says: its number as it is printed, or its text, of which at most that
// many characters and … for the rest. Both are "" where none can say that, such as for a text that looks like markup.
func (c Cell) Expected(column Format, most int) (value, text string) {
	f := c.format(column)
	if c.Value != nil && c.scaled(f).exact == nil {
		return f.expected(*c.Value), ""
	}
	text = plainSpace(c.Plain(f))
	if runes := []rune(text); len(runes) > most {
		text = strings.TrimSpace(string(runes[:most])) + " …"
	}
	if strings.Trim(plainText(text), "… ") == "" || !SameText(text, c.Plain(f)) {
		return "", ""
	}
	return "", text
}

// expected returns a number with the digits that are printed of it.
func (f Format) expected(v float64) string {
	v = f.scaled(v) + 0 // no -0
	switch f.Style {
	case "integer":
		return strconv.FormatFloat(v, 'f', -1, 64) // compared without rounding
	case "kilo":
		unit := 1000 * math.Pow(10, -float64(f.Decimals))
		return strconv.FormatFloat(math.Round(v/unit)*unit+0, 'f', -1, 64)
	case "text":
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fixed(v, f.Decimals)
}

// plainText returns a text without markup, its white space single blanks.
func plainText(s string) string { return plainSpace(Plain(s)) }

func plainSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// SameText compares a text of the paper, which may have markup, with a plain one: without markup, and with any white
// space as one blank. An … in the paper's text stands for text that it leaves out; a text that is cut says so in the same
// way. A minus may be typed as a hyphen.
func SameText(paper, rebuilt string) bool {
	hyphens := func(s string) string { return strings.ReplaceAll(s, "−", "-") }
	paper, rebuilt = hyphens(plainText(paper)), hyphens(plainSpace(rebuilt))
	pieces := strings.Split(paper, "…")
	if paper == rebuilt || len(pieces) == 1 {
		return paper == rebuilt
	}
	for i, piece := range pieces {
		piece = strings.TrimSpace(piece)
		at := strings.Index(rebuilt, piece)
		switch {
		case at < 0 || i == 0 && at > 0:
			return false
		case i == len(pieces)-1 && piece != "":
			return strings.HasSuffix(rebuilt, piece)
		}
		rebuilt = rebuilt[at+len(piece):]
	}
	return true
}
