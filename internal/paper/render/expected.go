package render

import (
	"math"
	"strconv"
	"strings"
)

// Expected returns what an Expectation of this cell says: its number as it is printed, or its text, of which at most that
// many characters and … for the rest. Both are "" where no expectation can say that, such as for a text that looks like
// markup.
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
