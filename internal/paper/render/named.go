package render

import (
	"encoding/json"
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

// format returns how numbers of an axis are printed in a sentence: with the digits that the paper gives, if it gives
// them.
func (a *Axis) format() Format {
	if a == nil || a.Decimals == 0 {
		return Format{Style: "text"}
	}
	return Format{Style: "fixed", Decimals: a.Decimals}
}
