package render

// Named is a number or text of a table or figure with its name.
type Named struct {
	Name string // ROW.COLUMN, or SERIES.POINT.x and SERIES.POINT.y
	Row  string // id; of a figure SERIES.POINT
	Head string // the column's title without markup; of a figure the axis
	Text string // as it is printed
	Cell Cell
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
			list = append(list, Named{r.ID + "." + c.ID, r.ID, heads[i], cell.plain(c.Format), cell})
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
			list = append(list, Named{at + ".x", at, "x", p.X.plain(format), p.X}, Named{at + ".y", at, "y", p.Y.plain(format), p.Y})
		}
	}
	return list
}
