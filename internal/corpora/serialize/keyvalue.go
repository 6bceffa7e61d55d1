package serialize

import (
	"bytes"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
)

// keyFirst writes a table, trying layouts in the released code's order: rows of a key and its values, rows below a header,
// joined cells. Tables in its cells follow their row.
func (w *writer) keyFirst(depth int) {
	g := &w.grid
	rows, keyed, head := 0, 0, -1
	for i := range g.rows {
		cells := w.shown(&g.rows[i])
		if len(cells) == 0 {
			continue
		}
		if rows++; head < 0 {
			head = i
		}
		if len(cells) == 1 || g.cells[cells[0]].th || len(cells) == 2 && isKey(g.textOf(cells[0])) {
			keyed++
		}
	}
	switch {
	case rows > 0 && 2*keyed >= rows:
		w.keyValues(depth)
	case rows > 0 && g.heads(w.shown(&g.rows[head])):
		g.headers(head, head+1)
		w.rows(depth, head+1, func(r *gridRow) { w.pairs(r, true) })
	case len(g.nested) > 0:
		w.parts(depth)
	default:
		w.rows(depth, 0, w.joined)
	}
}

// shown returns the non-empty cells of a row, with repeated cells, until the next call.
func (w *writer) shown(r *gridRow) []int32 {
	g := &w.grid
	g.shown = g.shown[:0]
	w.one.reset()
	w.cells(r, func(s slot, _ []byte) { g.shown = append(g.shown, s.cell) })
	return g.shown
}

// isKey reports whether the first of two cells looks like a key.
func isKey(text []byte) bool {
	const maxCharacters, maxWords = 80, 6
	return utf8.RuneCount(text) <= maxCharacters && (bytes.HasSuffix(text, []byte(":")) || len(bytes.Fields(text)) <= maxWords)
}

// heads reports whether enough cells of the first row are th for it to be a header.
func (g *grid) heads(cells []int32) bool {
	th := lists.Count(cells, func(c int32) bool { return g.cells[c].th })
	return th >= max(1, len(cells)/2)
}

// keyValues writes each row as its first cell and the others. A single th is the key of a single td in the next row; another
// single td is a line.
func (w *writer) keyValues(depth int) {
	g := &w.grid
	pending := none
	w.rows(depth, 0, func(r *gridRow) {
		cells := w.shown(r)
		single := len(cells) == 1
		if pending != none && !(single && !g.cells[cells[0]].th) {
			w.emitLine(depth, g.textOf(pending))
			pending = none
		}
		switch {
		case single && g.cells[cells[0]].th:
			pending = cells[0]
		case single && pending != none:
			w.keyed(pending, cells)
			pending = none
		case single:
			w.one.text = append(w.one.text, g.textOf(cells[0])...)
		default:
			w.keyed(cells[0], cells[1:])
		}
	})
	if pending != none {
		w.emitLine(depth, g.textOf(pending))
	}
}

// keyed writes a key, without its own colon, and its values.
func (w *writer) keyed(key int32, values []int32) {
	g := &w.grid
	if text := bytes.TrimRight(g.textOf(key), ": "); len(text) > 0 {
		w.one.text = append(append(w.one.text, text...), keySeparator...)
	}
	for i, v := range values {
		if len(w.one.text) > w.s.rules.MaxBytes {
			w.s.removed.Truncated = true
			return
		}
		if i > 0 {
			w.one.text = append(w.one.text, cellSeparator...)
		}
		w.one.text = append(w.one.text, g.textOf(v)...)
	}
}

// rows writes the rows with text from a number on, as line puts it into w.one, each followed by its cells' tables.
func (w *writer) rows(depth, from int, line func(r *gridRow)) {
	g := &w.grid
	for i := range g.rows {
		r := &g.rows[i]
		if i >= from && r.all > 0 {
			w.one.reset()
			line(r)
			w.emitLine(depth, w.one.text)
		}
		w.inner(depth, g.slots[r.from:r.to])
	}
}

// parts writes each cell on a line of its own, and rows between blank lines.
func (w *writer) parts(depth int) {
	g := &w.grid
	start := len(w.buf)
	for i := range g.rows {
		r := &g.rows[i]
		if len(w.buf) > start {
			w.need(2)
		}
		for k, s := range g.slots[r.from:r.to] {
			if !s.repeated {
				w.emitLine(depth, g.textOf(s.cell))
			}
			w.inner(depth, g.slots[int(r.from)+k:int(r.from)+k+1])
		}
	}
}

// inner writes the tables in cells, each with a grid of its own.
func (w *writer) inner(depth int, slots []slot) {
	for _, s := range slots {
		if c := w.grid.cells[s.cell]; !s.repeated && c.c < c.d {
			outer := w.grid
			for _, id := range outer.nested[c.c:c.d] {
				w.grid = grid{}
				w.table(id, depth)
			}
			w.grid = outer
		}
	}
}
