package serialize

import (
	"bytes"
	"slices"
	"strings"
)

// The parts of lines (paper, "List Formatting" and "Table Formatting").
const (
	bullet        = "- "  // before an item of an unordered list
	indent        = "  "  // per level of nesting
	cellSeparator = " ; " // between the cells of a row
	keySeparator  = ": "  // between attribute and value, header and cell, term and definition
)

// writer turns the tree into lines.
type writer struct {
	s    *scanner
	buf  []byte // the body so far, without a newline at its end
	line line   // the running line of a paragraph
	gap  int    // newlines due before the next line
	one  line   // scratch of flat

	// The section with a heading and no text so far: size of buf, and gap, before the heading.
	section struct {
		open      bool
		size, gap int
	}
	nest []int32
	grid grid
}

// line collects text with single blanks.
type line struct {
	text  []byte
	space bool // white space is due before the next text
}

func (l *line) reset() { l.text, l.space = l.text[:0], false }

// add appends a text node.
func (l *line) add(n *node, arena []byte) {
	l.space = l.space || n.before
	text := arena[n.a:n.b]
	if len(text) > 0 && text[0] == ' ' {
		l.space = true
		text = text[1:]
	}
	if len(text) > 0 {
		if l.space && len(l.text) > 0 && l.text[len(l.text)-1] != ' ' {
			l.text = append(l.text, ' ')
		}
		l.text = append(l.text, text...)
		l.space = false
	}
	l.space = l.space || n.after
}

func (w *writer) reset() {
	w.buf, w.gap = w.buf[:0], 0
	w.section.open = false
	w.line.reset()
}

// title returns the text of the first h1, or stored in its absence.
func (w *writer) title(stored string) string {
	if w.s.title > 0 {
		if text := w.own(w.s.title, nil); len(text) > 0 {
			return string(text)
		}
	}
	w.s.removed.NoTitle = true
	return strings.Join(strings.Fields(stored), " ")
}

// need asks for at least n newlines before the next line.
func (w *writer) need(n int) { w.gap = max(w.gap, n) }

// emit writes one line and reports whether it had text.
func (w *writer) emit(level int, marker string, text []byte) bool {
	if len(text) == 0 {
		return false
	}
	w.section.open = false
	w.write(level, marker, text)
	return true
}

func (w *writer) emitLine(level int, text []byte) {
	w.need(1)
	w.emit(level, "", text)
}

// write writes a line that may have no text.
func (w *writer) write(level int, marker string, text []byte) {
	if len(w.buf) >= w.s.rules.MaxBytes {
		w.s.removed.Truncated = true
		return
	}
	if len(w.buf) > 0 {
		w.buf = append(w.buf, "\n\n"[:max(1, w.gap)]...)
	}
	w.gap = 0
	for range level {
		w.buf = append(w.buf, indent...)
	}
	w.buf = append(w.buf, marker...)
	w.buf = append(w.buf, text...)
}

// flush ends the running line.
func (w *writer) flush() {
	w.emit(0, "", w.clean(w.line.text))
	w.line.reset()
}

// flow writes the children of a block.
func (w *writer) flow(id int32) {
	for c := w.s.nodes[id].first; c != none; c = w.s.nodes[c].next {
		n := &w.s.nodes[c]
		switch n.kind {
		case textNode:
			w.line.add(n, w.s.arena)
		case titleNode:
		case breakNode:
			w.flush()
			w.need(1)
		default:
			w.element(c, n)
		}
	}
}

func (w *writer) element(id int32, n *node) {
	w.flush()
	w.need(1)
	switch n.el {
	case heading:
		if n.headerLevel == 1 { // a second h1 is a line like others
			w.emit(0, "", w.clean(w.own(id, nil)))
			break
		}
		w.heading(id)
	case list, definitions, table: // between blank lines
		size, gap := len(w.buf), w.gap
		w.need(2)
		w.structure(id, 0)
		if len(w.buf) > size {
			w.need(2)
		} else {
			w.gap = gap
		}
	case item:
		w.item(id, bullet, 0)
	default:
		w.flow(id)
		w.flush()
	}
	w.need(1)
}

func (w *writer) heading(id int32) {
	section := w.s.nodes[id].headerLevel <= deepestSection
	if section {
		w.endSection()
	}
	size, gap := len(w.buf), w.gap
	w.need(2)
	if !w.emit(0, "", w.clean(w.own(id, nil))) {
		return
	}
	if section && w.s.rules.EmptySections == "drop" {
		w.section.open, w.section.size, w.section.gap = true, size, gap
	}
}

// endSection takes the last heading back if no text followed it.
func (w *writer) endSection() {
	if w.section.open {
		w.buf, w.gap = w.buf[:w.section.size], w.section.gap
		w.section.open = false
		w.s.removed.EmptySections++
	}
}

// own returns the text below a node on one line, without the elements that apart accepts (collect), until the next call.
func (w *writer) own(id int32, apart func(element) bool) []byte {
	w.one.reset()
	w.collect(id, apart)
	return w.clean(w.one.text)
}

// structured reports whether an element is written by structure, in an item of a list below its own line.
func structured(el element) bool { return el == list || el == definitions || el == table }

func (w *writer) structure(id int32, depth int) {
	if w.s.nodes[id].el == table {
		w.table(id, depth)
	} else {
		w.list(id, depth)
	}
}

// collect adds the text below a node to w.one, and to w.nest the elements that apart, if given, accepts.
func (w *writer) collect(id int32, apart func(element) bool) {
	for c := w.s.nodes[id].first; c != none; c = w.s.nodes[c].next {
		switch n := &w.s.nodes[c]; n.kind {
		case textNode:
			w.one.add(n, w.s.arena)
		case breakNode:
			w.one.space = true
		case titleNode:
		default:
			w.one.space = true
			if apart != nil && apart(n.el) {
				w.nest = append(w.nest, c)
			} else {
				w.collect(c, apart)
			}
			w.one.space = true
		}
	}
}

// clean trims a line in place and removes interface artifacts: a word of Options.Artifacts in square brackets.
func (w *writer) clean(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if bytes.IndexByte(text, '[') < 0 {
		return text
	}
	out := text[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == '[' {
			if n := w.artifact(text[i:]); n > 0 {
				w.s.removed.Artifacts++
				i += n - 1
				if (len(out) == 0 || out[len(out)-1] == ' ') && i+1 < len(text) && text[i+1] == ' ' {
					i++
				}
				continue
			}
		}
		out = append(out, text[i])
	}
	return bytes.TrimSpace(out)
}

// artifact returns the length of the artifact that text begins with, or 0.
func (w *writer) artifact(text []byte) int {
	const longest = 64
	end := bytes.IndexByte(text[:min(len(text), longest)], ']')
	if end < 0 {
		return 0
	}
	word := bytes.TrimSpace(text[1:end])
	if slices.ContainsFunc(w.s.rules.Artifacts, func(a string) bool { return bytes.EqualFold(word, []byte(a)) }) {
		return end + 1
	}
	return 0
}
