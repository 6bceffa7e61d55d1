package render

import (
	"strings"
	"unicode/utf8"
)

// Characters that fit side by side at \small, columns' gaps included, over one
// and over both columns of a page.
const (
	narrowChars = 56
	wideChars   = 115
	columnGap   = 2
	longChars   = 18 // text that is longer may be broken into lines
)

// widths is the longest text of every stub and column, in characters.
func (t *Table) widths() []int {
	var out []int
	longest := func(n int, s string) int { return max(n, utf8.RuneCountInString(s)) }
	for i, s := range t.Stubs {
		n := longest(0, Plain(s))
		for _, r := range t.Rows {
			if r.Titles != nil {
				n = longest(n, Plain(r.Titles[i]))
			}
		}
		out = append(out, n)
	}
	for _, c := range t.Columns {
		n := longest(0, Plain(c.Title))
		for _, r := range t.Rows {
			if cell, ok := r.Cells[c.ID]; ok {
				n = longest(n, cell.plain(c.Format))
			}
		}
		out = append(out, n)
	}
	return out
}

// flexible says which stubs and columns are broken into lines: those with long
// text, where the table would be too wide for the page.
func (t *Table) flexible() (flexible []bool, any bool) {
	widths, room := t.widths(), narrowChars
	if t.Wide {
		room = wideChars
	}
	flexible = make([]bool, len(widths))
	for i, n := range widths {
		room -= n + columnGap
		flexible[i] = n > longChars && (i < len(t.Stubs) || t.Columns[i-len(t.Stubs)].align() == "l")
		any = any || flexible[i]
	}
	if room >= 0 {
		return make([]bool, len(widths)), false
	}
	return flexible, any
}

// tabular is the environment of the rows, with what its \begin takes.
func (t *Table) tabular(width string) (name, arguments string) {
	flexible, any := t.flexible()
	var spec strings.Builder
	for i, is := range flexible {
		switch {
		case is:
			spec.WriteString(`>{\raggedright\arraybackslash}X`)
		case i < len(t.Stubs):
			spec.WriteString("l")
		default:
			spec.WriteString(t.Columns[i-len(t.Stubs)].align())
		}
	}
	if any {
		return "tabularx", "{" + width + "}{@{}" + spec.String() + "@{}}"
	}
	return "tabular*", "{" + width + `}{@{\extracolsep{\fill}}` + spec.String() + "@{}}"
}
