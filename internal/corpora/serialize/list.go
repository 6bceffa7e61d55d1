package serialize

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// list writes ul, ol and dl, one line per item, nested items indented (paper, "List Formatting").
func (w *writer) list(id int32, depth int) {
	n := &w.s.nodes[id]
	if n.el == definitions {
		var t pending
		w.definitions(id, depth, &t)
		w.bareTerms(depth, &t)
		return
	}
	number := int(n.start)
	for c := n.first; c != none; c = w.s.nodes[c].next {
		child := &w.s.nodes[c]
		if child.kind == textNode || child.kind == breakNode {
			w.loose(c, depth)
			continue
		}
		switch child.el {
		case item:
			marker := bullet
			if n.atom == atom.Ol {
				marker = strconv.Itoa(number) + ". "
			}
			if w.item(c, marker, depth) || w.s.rules.EmptyItems != "skipped" {
				number++
			}
		case list, definitions, table:
			w.structure(c, depth+1)
		default:
			w.item(c, "", depth)
		}
	}
}

// loose writes text of a list outside its items.
func (w *writer) loose(id int32, depth int) {
	if n := &w.s.nodes[id]; n.kind == textNode {
		w.one.reset()
		w.one.add(n, w.s.arena)
		w.emitLine(depth, w.clean(w.one.text))
	}
}

// item writes an item's own text on one line, then its lists and tables one level deeper. It reports whether it wrote text.
func (w *writer) item(id int32, marker string, depth int) bool {
	from := len(w.nest)
	text := w.own(id, structured)
	w.need(1)
	size := len(w.buf)
	if !w.emit(depth, marker, text) && w.s.rules.EmptyItems == "kept" {
		if bare := strings.TrimSpace(marker); bare != "" {
			w.write(depth, bare, nil)
		}
	}
	w.nested(from, depth)
	if len(w.buf) == size {
		w.s.removed.EmptyItems++
		return false
	}
	return true
}

// nested writes the lists and tables noted since from, and forgets them.
func (w *writer) nested(from, depth int) {
	for _, id := range w.nest[from:] {
		w.structure(id, depth+1)
	}
	w.nest = w.nest[:from]
}

// pending are the dt without a dd so far.
type pending []string

// definitions writes "term: definition" lines. The first definition behind successive terms goes to each of them; others,
// and terms without one, have lines of their own.
func (w *writer) definitions(id int32, depth int, t *pending) {
	for c := w.s.nodes[id].first; c != none; c = w.s.nodes[c].next {
		n := &w.s.nodes[c]
		if n.kind != elementNode {
			w.loose(c, depth)
			continue
		}
		switch n.el {
		case term:
			from := len(w.nest)
			if text := w.own(c, structured); len(text) > 0 {
				*t = append(*t, string(text))
			}
			if len(w.nest) > from {
				w.bareTerms(depth, t)
				w.nested(from, depth)
			}
		case definition:
			w.definition(c, depth, t)
		case list, definitions:
			w.bareTerms(depth, t)
			w.list(c, depth+1)
		case block: // HTML allows div around dt and dd
			w.definitions(c, depth, t)
		default:
			w.bareTerms(depth, t)
			w.item(c, "", depth)
		}
	}
}

func (w *writer) definition(id int32, depth int, t *pending) {
	from := len(w.nest)
	text := w.own(id, structured)
	w.need(1)
	switch {
	case len(text) > 0 && len(*t) > 0:
		for _, term := range *t {
			w.emit(depth, term+keySeparator, text)
		}
		*t = (*t)[:0]
	case len(text) > 0:
		w.emit(depth, "", text)
	case len(w.nest) == from:
		w.s.removed.EmptyItems++
		return
	default:
		w.bareTerms(depth, t)
	}
	w.nested(from, depth)
}

func (w *writer) bareTerms(depth int, t *pending) {
	for _, term := range *t {
		w.emitLine(depth, []byte(term))
	}
	*t = (*t)[:0]
}
