package serialize

import (
	"strconv"

	"golang.org/x/net/html/atom"
)

// list writes ul, ol and dl, one line per item, nested ones indented (paper,
// "List Formatting").
func (w *writer) list(id int32, depth int) {
	n := &w.s.nodes[id]
	if n.el == definitions {
		var t pending
		w.definitions(id, depth, &t)
		w.bareTerm(depth, &t)
		return
	}
	number := int(n.start)
	for c := n.first; c != none; c = w.s.nodes[c].next {
		child := &w.s.nodes[c]
		if child.kind == textNode || child.kind == lineNode || child.kind == breakNode {
			w.loose(c, depth)
			continue
		}
		switch child.el {
		case item:
			marker := w.s.o.Bullet + " "
			if n.atom == atom.Ol {
				marker = strconv.Itoa(number) + ". "
			}
			if w.item(c, marker, depth) || w.s.o.EmptyItems == "numbered" {
				number++
			}
		case list, definitions:
			w.list(c, depth+1)
		case table:
			w.table(c, depth+1)
		default:
			w.item(c, "", depth)
		}
	}
}

// loose writes text that stands in a list outside its items.
func (w *writer) loose(id int32, depth int) {
	if n := &w.s.nodes[id]; n.kind == textNode {
		w.one.reset()
		w.one.add(n, w.s.arena)
		w.need(1)
		w.emit(depth, "", w.clean(w.one.text))
	}
}

// item writes an item's own text on one line, then the lists and tables in it,
// one level deeper. It reports whether there was text at all.
func (w *writer) item(id int32, marker string, depth int) bool {
	from := len(w.nest)
	w.one.reset()
	w.collect(&w.one, id, &w.nest)
	w.need(1)
	size := len(w.buf)
	w.emit(depth, marker, w.clean(w.one.text))
	w.nested(from, depth)
	if len(w.buf) == size {
		w.s.removed.EmptyItems++
		return false
	}
	return true
}

// nested writes the lists and tables noted since from, and forgets them.
func (w *writer) nested(from, depth int) {
	for i := from; i < len(w.nest); i++ {
		c := w.nest[i]
		if w.s.nodes[c].el == table {
			w.table(c, depth+1)
		} else {
			w.list(c, depth+1)
		}
	}
	w.nest = w.nest[:from]
}

// pending is a dt that waits for its dd.
type pending struct{ text string }

// definitions writes "term: definition" lines. The first definition after a term
// takes it; further ones, and terms without one, stand alone.
func (w *writer) definitions(id int32, depth int, t *pending) {
	for c := w.s.nodes[id].first; c != none; c = w.s.nodes[c].next {
		n := &w.s.nodes[c]
		if n.kind != elementNode {
			w.loose(c, depth)
			continue
		}
		switch n.el {
		case term:
			w.bareTerm(depth, t)
			from := len(w.nest)
			w.one.reset()
			w.collect(&w.one, c, &w.nest)
			t.text = string(w.clean(w.one.text))
			if len(w.nest) > from {
				w.bareTerm(depth, t)
				w.nested(from, depth)
			}
		case definition:
			w.definition(c, depth, t)
		case list, definitions:
			w.bareTerm(depth, t)
			w.list(c, depth+1)
		case block: // HTML allows div around dt and dd
			w.definitions(c, depth, t)
		default:
			w.bareTerm(depth, t)
			w.item(c, "", depth)
		}
	}
}

func (w *writer) definition(id int32, depth int, t *pending) {
	from := len(w.nest)
	w.one.reset()
	w.collect(&w.one, id, &w.nest)
	text := w.clean(w.one.text)
	w.need(1)
	switch {
	case len(text) > 0 && t.text != "":
		w.emit(depth, t.text+w.s.o.KeySeparator, text)
		t.text = ""
	case len(text) > 0:
		w.emit(depth, "", text)
	case len(w.nest) == from:
		w.s.removed.EmptyItems++
		return
	default:
		w.bareTerm(depth, t)
	}
	w.nested(from, depth)
}

func (w *writer) bareTerm(depth int, t *pending) {
	if t.text != "" {
		w.need(1)
		w.emit(depth, "", []byte(t.text))
		t.text = ""
	}
}
