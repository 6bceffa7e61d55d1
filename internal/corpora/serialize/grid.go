package serialize

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/net/html/atom"
)

const (
	maxColumns    = 4096 // further columns count as this one
	maxHeaderRows = 16
	maxSpanColumn = 1000 // cells right of it span no rows: bounds the work per row
)

// grid is a table with its spans resolved (HTML Living Standard, 4.9.12).
type grid struct {
	text   []byte
	cells  []gridCell
	slots  []slot
	rows   []gridRow
	active []activeSpan
	seen   []bool // scratch: columns with text

	nested []int32 // tables in cells, apart from their text
	shown  []int32 // scratch: cells of a row

	headerOf [][]int32 // per column: header cells from top to bottom
}

type gridCell struct {
	a, b  int32 // range of grid.text
	c, d  int32 // range of grid.nested
	th    bool
	width int32 // columns
}

// slot is a cell at its place in a row, its own or repeated from a row above.
type slot struct {
	cell, col int32
	repeated  bool
}

// gridRow is a run of slots in column order.
type gridRow struct {
	from, to int32
	own      int32 // non-empty cells that are not repeated
	all      int32 // non-empty cells, repeated ones included
	th       int32 // of them, header cells
	single   int32 // the cell, where all is 1
}

func (r gridRow) filled() bool { return r.own > 0 }

type activeSpan struct{ cell, col, rows int32 }

func (g *grid) reset() {
	g.text, g.cells, g.slots, g.rows = g.text[:0], g.cells[:0], g.slots[:0], g.rows[:0]
	g.active, g.nested = g.active[:0], g.nested[:0]
}

func (g *grid) textOf(cell int32) []byte { c := &g.cells[cell]; return g.text[c.a:c.b] }

// read fills the grid from a table's rows. A row span ends with its row group.
func (g *grid) read(w *writer, id int32) {
	g.reset()
	for c := w.s.nodes[id].first; c != none; c = w.s.nodes[c].next {
		switch n := &w.s.nodes[c]; n.el {
		case row:
			g.row(w, c)
		case rowGroup:
			g.active = g.active[:0]
			for r := n.first; r != none; r = w.s.nodes[r].next {
				if w.s.nodes[r].el == row {
					g.row(w, r)
				}
			}
			g.active = g.active[:0]
		}
	}
}

// row appends a row: its own cells in the columns that spans from above leave free, among the repeated cells.
func (g *grid) row(w *writer, id int32) {
	r := gridRow{from: int32(len(g.slots))}
	old, kept := g.active, 0
	col, next := int32(0), 0
	repeat := func(before int32) {
		for next < len(old) && old[next].col < before {
			a := old[next]
			next++
			g.slots = append(g.slots, slot{a.cell, a.col, true})
		}
	}
	var fresh []activeSpan
	for c := w.s.nodes[id].first; c != none; c = w.s.nodes[c].next {
		n := &w.s.nodes[c]
		if n.kind != elementNode || n.el != cell {
			continue
		}
		for next < len(old) && old[next].col <= col {
			a := old[next]
			repeat(a.col + 1)
			col = max(col, a.col+g.cells[a.cell].width)
		}
		col = min(col, maxColumns)
		cell := int32(len(g.cells))
		g.cells = append(g.cells, g.cell(w, c))
		g.slots = append(g.slots, slot{cell, col, false})
		if n.rowspan > 1 && col < maxSpanColumn {
			fresh = append(fresh, activeSpan{cell, col, n.rowspan})
		}
		col += n.colspan
	}
	repeat(maxColumns + 1)
	r.to = int32(len(g.slots))
	g.count(&r)
	g.rows = append(g.rows, r)

	for i := range old {
		if old[i].rows--; old[i].rows > 1 {
			old[kept] = old[i]
			kept++
		}
	}
	g.active = append(old[:kept], fresh...)
	if len(fresh) > 0 {
		slices.SortStableFunc(g.active, func(a, b activeSpan) int { return cmp.Compare(a.col, b.col) })
	}
}

// cell reads a cell. Tables in it count as its text, unless rows of keys and values are looked for first.
func (g *grid) cell(w *writer, id int32) gridCell {
	n := &w.s.nodes[id]
	r := gridCell{a: int32(len(g.text)), c: int32(len(g.nested)), th: n.atom == atom.Th, width: n.colspan}
	from := len(w.nest)
	keyed := w.s.rules.TableFirst == "key_value"
	g.text = append(g.text, w.own(id, func(el element) bool { return keyed && el == table })...)
	g.nested = append(g.nested, w.nest[from:]...)
	w.nest = w.nest[:from]
	r.b, r.d = int32(len(g.text)), int32(len(g.nested))
	return r
}

func (g *grid) count(r *gridRow) {
	for _, s := range g.slots[r.from:r.to] {
		c := g.cells[s.cell]
		if c.a == c.b {
			continue
		}
		r.all++
		r.single = s.cell
		if !s.repeated {
			r.own++
		}
		if c.th {
			r.th++
		}
	}
}

// bare reports whether a row is one cell that spans columns.
func (g *grid) bare(r *gridRow) bool { return r.all == 1 && g.cells[r.single].width > 1 }

// columns counts the columns in which a cell with text begins, without rows of one spanning cell.
func (g *grid) columns() int {
	g.seen = g.seen[:0]
	n := 0
	for i := range g.rows {
		r := &g.rows[i]
		if r.own == 0 || g.bare(r) {
			continue
		}
		for _, s := range g.slots[r.from:r.to] {
			if c := g.cells[s.cell]; c.a < c.b {
				for int(s.col) >= len(g.seen) {
					g.seen = append(g.seen, false)
				}
				if !g.seen[s.col] {
					g.seen[s.col] = true
					n++
				}
			}
		}
	}
	return n
}

// header finds the header rows, rows[first:end]: leading rows whose non-empty cells, two at least, are all th, above a row
// of data. Rows of one cell above them are table titles.
func (g *grid) header() (first, end int) {
	for first < len(g.rows) {
		r := &g.rows[first]
		if r.own > 0 && !g.bare(r) && !(r.all == 1 && r.th == 1) {
			break
		}
		first++
	}
	end = first // the row at first has text
	for end < len(g.rows) && end-first < maxHeaderRows {
		if r := &g.rows[end]; r.own > 0 && (r.all < 2 || r.th < r.all) {
			break
		}
		end++
	}
	if end == first || !slices.ContainsFunc(g.rows[end:], gridRow.filled) {
		return 0, 0
	}
	g.headers(first, end)
	return first, end
}

// headers notes, for each column, the header cells above it, a cell that spans rows once.
func (g *grid) headers(first, end int) {
	for i := range g.headerOf {
		g.headerOf[i] = g.headerOf[i][:0]
	}
	for i := first; i < end; i++ {
		for _, s := range g.slots[g.rows[i].from:g.rows[i].to] {
			c := g.cells[s.cell]
			if s.repeated || c.a == c.b {
				continue
			}
			for col := int(s.col); col < min(int(s.col+c.width), maxColumns+1); col++ {
				for col >= len(g.headerOf) {
					g.headerOf = append(g.headerOf, nil)
				}
				g.headerOf[col] = append(g.headerOf[col], s.cell)
			}
		}
	}
}

// repeats reports whether row i has the texts of a header row.
func (g *grid) repeats(i, first, end int) bool {
	slots := func(r *gridRow) []slot { return g.slots[r.from:r.to] }
	r := &g.rows[i]
	return slices.ContainsFunc(g.rows[first:end], func(h gridRow) bool {
		return r.all == h.all && slices.EqualFunc(slots(r), slots(&h), func(a, b slot) bool {
			return a.col == b.col && bytes.Equal(g.textOf(a.cell), g.textOf(b.cell))
		})
	})
}
