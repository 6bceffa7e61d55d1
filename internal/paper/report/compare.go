package report

import (
	"cmp"
	"context"
	"math"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
)

// Against is another run that the report compares the results with.
type Against struct {
	Run     string
	Results map[string]*artifacts.Result // of tables and figures, by address
	Changed []Changed                    // steps with different keys, in the plan's order
	Same    int                          // steps with the same key
}

// Changed is a step that differs in another run.
type Changed struct {
	Step string   `json:"step"`
	Why  []string `json:"why"` // what differs in the key, or another reason
}

// ComparedCells counts the cells of tables and points of figures that both runs have, and those
// of them that are printed differently.
type ComparedCells struct {
	Both    int `json:"both"`
	Differs int `json:"differ"`
}

// otherItem is a table or figure of the other run.
type otherItem struct {
	table  *render.Table
	figure *render.Figure
	SVG    []byte
	found  ComparedCells
}

// otherCell is a cell of the other run.
type otherCell struct {
	Text string
	Off  string // this run's number minus the other's; "" if they are not numbers
	Same bool   // both print the same
}

// loadOther reads the other run's result of an item.
func (it *Item) loadOther(ctx context.Context, r *artifacts.Result, read Reader) error {
	if r == nil {
		return nil
	}
	was := &Item{Address: it.Address, Block: it.Block}
	if err := was.fill(ctx, r, read); err != nil {
		return err
	}
	it.other = &otherItem{table: was.Table, figure: was.Figure, SVG: was.SVG}
	count := func(name string, c render.Cell, f render.Format) {
		if o := it.other.cell(name, c, f); o != nil {
			it.other.found.Both++
			if !o.Same {
				it.other.found.Differs++
			}
		}
	}
	if it.Table != nil {
		for _, row := range it.Table.Rows {
			for _, col := range it.Table.Columns {
				if c, ok := row.Cells[col.ID]; ok {
					count(row.ID+"."+col.ID, c, col.Format)
				}
			}
		}
		return nil
	}
	for _, s := range it.Figure.Series {
		for _, p := range s.Points {
			count(s.ID+"."+p.ID+".y", p.Y, render.Format{Style: "fixed", Decimals: 4})
		}
	}
	return nil
}

// cell is the other run's cell with a name; nil if it has none.
func (o *otherItem) cell(name string, mine render.Cell, f render.Format) *otherCell {
	var theirs render.Cell
	var err error
	if o.table != nil {
		theirs, err = o.table.Find(name)
	} else {
		theirs, err = o.figure.Find(name)
	}
	if err != nil || theirs.Missing() || mine.Missing() {
		return nil
	}
	plain := func(c render.Cell) string { c.Bold = false; return c.HTML(f) }
	out := &otherCell{Text: theirs.Plain(f), Same: plain(mine) == plain(theirs)}
	if mine.Value != nil && theirs.Value != nil && !out.Same {
		own := f
		if mine.Format != nil {
			own = *mine.Format
		}
		if d := (*mine.Value - *theirs.Value) * cmp.Or(own.Scale, 1); !math.IsNaN(d) {
			out.Off = mine.Off(f, d)
		}
	}
	return out
}

// compared sums up the comparisons of items.
func (r *Report) compared() {
	for _, it := range r.Items {
		if it.other != nil {
			r.Cells.Both += it.other.found.Both
			r.Cells.Differs += it.other.found.Differs
		}
	}
}

// OtherSVG is the other run's picture of the item, if it differs.
func (it *Item) OtherSVG() []byte {
	if it.other == nil || string(it.other.SVG) == string(it.SVG) {
		return nil
	}
	return it.other.SVG
}
