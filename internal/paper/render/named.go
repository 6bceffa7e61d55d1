package render

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Named is a number or text of a table or figure with its name.
type Named struct {
	Name string // ROW.COLUMN, or SERIES.POINT.x and SERIES.POINT.y
	Row  string // id; of a figure SERIES.POINT
	Head string // the column's title without markup; of a figure the axis
	Text string // as it is printed
	Cell Cell

	Title  string // of the row or series, without markup
	Format Format // by which it is printed; of a figure by its axis
}

// ReadNamed reads the JSON of a table or figure.
func ReadNamed(text []byte, isTable bool) ([]Named, error) {
	if isTable {
		t, err := ReadTable(text)
		return t.Named(), err
	}
	var f Figure
	err := json.Unmarshal(text, &f)
	return f.Named(), err
}

// Named lists the cells of the rows that have ids, row by row.
func (t *Table) Named() (list []Named) {
	heads := t.heads(Plain)[len(t.Stubs):]
	for _, r := range t.Rows {
		if r.Titles == nil || r.ID == "" {
			continue
		}
		for i, c := range t.Columns {
			cell := r.Cells[c.ID]
			list = append(list, Named{r.ID + "." + c.ID, r.ID, heads[i], cell.Plain(c.Format), cell, plainTitles(r.Titles), cell.format(c.Format)})
		}
	}
	return list
}

// Named lists the coordinates of all points, series by series.
func (f *Figure) Named() (list []Named) {
	format := Format{Style: "text"}
	for _, s := range f.Series {
		for _, p := range s.Points {
			at := s.ID + "." + p.ID
			title := Plain(s.Title)
			list = append(list, Named{at + ".x", at, "x", p.X.Plain(format), p.X, title, f.X.format()})
			for _, name := range coordinates[1:] {
				if c := p.number(name); name == "y" || c.Value != nil {
					list = append(list, Named{at + "." + name, at, name, c.Plain(format), c, title, f.axisOf(s).format()})
				}
			}
		}
	}
	return list
}

func plainTitles(titles []string) string {
	return strings.Join(lists.Filter(lists.Map(titles, Plain), func(t string) bool { return t != "" }), ", ")
}

// format returns how numbers of an axis are printed in a sentence: with as many digits as the paper gives, if it does.
func (a *Axis) format() Format {
	if a == nil || a.Decimals == 0 {
		return Format{Style: "text"}
	}
	return Format{Style: "fixed", Decimals: a.Decimals}
}

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
