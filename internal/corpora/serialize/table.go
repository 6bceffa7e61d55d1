package serialize

import "slices"

// table writes a caption and a table in its layout's form (paper, "Table Formatting"): header and cell pairs, attribute
// and value pairs, one line per row, or joined cells.
func (w *writer) table(id int32, depth int) {
	if w.s.rules.Tables == "drop" {
		w.s.removed.DroppedTable += w.s.tokensIn(id)
		return
	}
	g := &w.grid
	g.read(w, id)
	if len(g.nested) == 0 && !slices.ContainsFunc(g.rows, gridRow.filled) {
		w.s.removed.EmptyTables++
		w.s.removed.DroppedTable += w.s.tokensIn(id)
		return
	}
	for c := w.s.nodes[id].first; c != none; c = w.s.nodes[c].next {
		if w.s.nodes[c].el == caption {
			w.emitLine(depth, w.own(c, nil))
		}
	}
	if w.s.rules.Tables == "forms" && w.s.rules.TableFirst == "key_value" {
		w.keyFirst(depth)
		return
	}
	first, end, columns := 0, 0, 0
	if w.s.rules.Tables == "forms" {
		if first, end = g.header(); end == 0 {
			columns = g.columns()
		}
	}
	for i := range g.rows {
		r := &g.rows[i]
		if r.own == 0 || i >= first && i < end || i >= end && end > 0 && g.repeats(i, first, end) {
			continue
		}
		w.one.reset()
		if headed := i >= end && end > 0 && !g.bare(r); headed || columns == 2 {
			w.pairs(r, headed)
		} else {
			w.joined(r)
		}
		w.emitLine(depth, w.one.text)
	}
}

func (w *writer) joined(r *gridRow) {
	w.cells(r, func(s slot, text []byte) { w.separate(cellSeparator, text) })
}

// pairs puts each cell behind its header, if it has one, or the second of two columns behind the first.
func (w *writer) pairs(r *gridRow, headed bool) {
	n := 0
	w.cells(r, func(s slot, text []byte) {
		if !headed {
			separator := cellSeparator
			if n++; n == 2 {
				separator = keySeparator
			}
			w.separate(separator, text)
			return
		}
		w.separate(cellSeparator, nil)
		if int(s.col) < len(w.grid.headerOf) && len(w.grid.headerOf[s.col]) > 0 {
			for i, h := range w.grid.headerOf[s.col] {
				if i > 0 {
					w.one.text = append(w.one.text, ' ')
				}
				w.one.text = append(w.one.text, w.grid.textOf(h)...)
			}
			w.one.text = append(w.one.text, keySeparator...)
		}
		w.one.text = append(w.one.text, text...)
	})
}

func (w *writer) separate(separator string, text []byte) {
	if len(w.one.text) > 0 {
		w.one.text = append(w.one.text, separator...)
	}
	w.one.text = append(w.one.text, text...)
}

// cells calls f for the non-empty cells that a row shows.
func (w *writer) cells(r *gridRow, f func(s slot, text []byte)) {
	g := &w.grid
	for _, s := range g.slots[r.from:r.to] {
		c := g.cells[s.cell]
		if c.a == c.b {
			continue
		}
		last := s.col
		if !g.bare(r) || w.s.rules.TableFirst == "key_value" {
			last = min(s.col+c.width-1, maxColumns)
		}
		for col := s.col; col <= last; col++ {
			if len(w.one.text) > w.s.rules.MaxBytes {
				w.s.removed.Truncated = true
				return
			}
			f(slot{s.cell, col, s.repeated}, g.text[c.a:c.b])
		}
	}
}
