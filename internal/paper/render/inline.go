package render

import (
	"strconv"
	"strings"
)

// Inline is a cell as in a sentence, with the data that LaTeX needs to print it in other forms.
type Inline struct {
	TeX      string // as the table prints it, in text and in mathematics; texts in \redsitext
	Value    string // as a decimal, in the printed unit; "" for a text
	Std      string // standard deviation, likewise; "": none
	Style    string // integer, fixed, kilo, signed or text
	Decimals int
	ShowsStd bool // TeX includes Std
}

// Inline returns the cell for a sentence, without bold and marks, which compare it with its neighbours.
func (n Named) Inline() Inline {
	c, f := n.Cell, n.Format
	c.Marks = ""
	out := Inline{Style: f.Style, Decimals: f.Decimals}
	if c.Value == nil {
		c.Bold = false
		out.TeX = `\redsitext{` + c.latex(f) + `}`
		return out
	}
	out.Value = decimal(f.scaled(*c.Value))
	if c.Std != nil {
		out.Std = decimal(f.scaled(*c.Std))
		out.ShowsStd = f.Std
	}
	s, isKilo := strings.CutSuffix(inMath.Replace(c.digits(f)), kilo)
	switch {
	case out.ShowsStd:
		s = `\ensuremath{` + s + ` \pm ` + strings.TrimSuffix(inMath.Replace(f.std(*c.Std)), kilo) + `}`
	case strings.HasPrefix(s, "-") || f.Style == "signed":
		s = `\ensuremath{` + s + `}`
	}
	if f.Prefix != "" {
		s = `\mbox{` + f.Prefix + `}` + s
	}
	if isKilo {
		s += `\,\mbox{K}`
	}
	out.TeX = s
	return out
}

// decimal prints a number with 15 digits, as many as printing looks at.
func decimal(v float64) string { return strconv.FormatFloat(v+0, 'g', 15, 64) }
