package render

import (
	"html"
	"math"
	"slices"
)

// HTML returns a marked-up text as HTML.
func HTML(s string) string {
	return convert(s, func(t string, _ []string) string { return html.EscapeString(t) },
		map[string]string{"b": "<b>", "i": "<i>", "tt": "<code>", "sc": `<span class="sc">`, "sub": "<sub>", "sup": "<sup>"},
		map[string]string{"b": "</b>", "i": "</i>", "tt": "</code>", "sc": "</span>", "sub": "</sub>", "sup": "</sup>"})
}

// HTML returns a cell's text as its column prints it.
func (c Cell) HTML(f Format) string { return c.written(f, html.EscapeString, HTML, "<b>", "</b>", "u") }

// Printed returns a number of the paper as the cell prints its own.
func (c Cell) Printed(f Format, v float64) string {
	f = c.format(f)
	f.Scale = 0 // the paper's numbers are as it prints them
	return f.number(v)
}

// Off returns a difference from the paper with its sign, as the cell prints numbers.
func (c Cell) Off(f Format, d float64) string {
	f = c.format(f)
	f.Scale, f.Prefix, f.Style = 0, "", f.unsigned()
	digits := f.digits(math.Abs(d))
	f.Style = "signed"
	return f.sign(d, digits)
}

// HeadRows returns the header rows above the titles, outermost first; a header spans the neighbours that share it.
func (t *Table) HeadRows() (rows [][]Span) {
	if len(t.Columns) == 0 {
		return nil
	}
	for level := range t.Columns[0].Groups {
		var row []Span
		for i, c := range t.Columns {
			if i > 0 && slices.Equal(c.Groups[:level+1], t.Columns[i-1].Groups[:level+1]) {
				row[len(row)-1].last = i
			} else {
				row = append(row, Span{c.Groups[level], i, i})
			}
		}
		rows = append(rows, row)
	}
	return rows
}
