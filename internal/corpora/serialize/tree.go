package serialize

import (
	"slices"

	"golang.org/x/net/html/atom"

	"github.com/redsi/redsi/internal/system/lists"
)

// nodeKind is what a node contributes to the lines.
type nodeKind uint8

const (
	textNode  nodeKind = iota // arena[a:b]
	breakNode                 // br, or a block boundary without content
	titleNode                 // the first h1
	elementNode
)

// node is an element that matters for lines, or text. Index 0 is the root.
type node struct {
	kind                                 nodeKind
	el                                   element
	atom                                 atom.Atom
	before, after                        bool  // text: white space around it in the HTML
	parent, first, last, prev, next      int32 // none = -1
	a, b                                 int32 // text: range of the arena
	tokens                               int32 // text: tokens in it
	start, rowspan, colspan, headerLevel int32
}

var rootNode = node{kind: elementNode, el: block, parent: none, first: none, last: none, prev: none, next: none}

const (
	root int32 = 0
	none int32 = -1

	// maxDepth bounds the open elements, at 512 in browsers too; deeper tags are ignored.
	maxDepth = 512
)

// open is an unended element; an inline one only if it is removed, or nested in a removed element of its name.
type open struct {
	atom atom.Atom
	el   element
	node int32 // none inside removed elements
}

func (s *scanner) top() element {
	if n := len(s.stack); n > 0 {
		return s.stack[n-1].el
	}
	return block
}

// parent is the node that content goes to.
func (s *scanner) parent() int32 {
	if n := len(s.stack); n > 0 {
		return s.stack[n-1].node
	}
	return root
}

// add appends a node to the open element. Content that table structure cannot hold goes before the table.
func (s *scanner) add(n node) int32 {
	parent, before := s.parent(), none
	if s.top().inTable() && !tableContent(n) {
		before = s.stack[s.openTable()].node
		parent = s.nodes[before].parent
	}
	id := int32(len(s.nodes))
	n.first, n.last = none, none
	s.nodes = append(s.nodes, n)
	s.link(id, parent, before)
	return id
}

// link puts a node among the children of parent, before one of them or, at none, at their end.
func (s *scanner) link(id, parent, before int32) {
	n, p := &s.nodes[id], &s.nodes[parent]
	n.parent, n.prev, n.next = parent, p.last, before
	if before != none {
		n.prev = s.nodes[before].prev
		s.nodes[before].prev = id
	} else {
		p.last = id
	}
	if n.prev != none {
		s.nodes[n.prev].next = id
	} else {
		p.first = id
	}
}

func tableContent(n node) bool {
	return n.kind == elementNode && (n.el == caption || n.el == rowGroup || n.el == row || n.el == cell)
}

// last returns the innermost open element that match accepts, or -1 if there is none or stop accepts an inner element.
func (s *scanner) last(match, stop func(open) bool) int {
	for i := len(s.stack) - 1; i >= 0; i-- {
		if match(s.stack[i]) {
			return i
		}
		if stop(s.stack[i]) {
			break
		}
	}
	return -1
}

func isTable(o open) bool { return o.el == table }

// openTable is the position of the innermost open table, or -1.
func (s *scanner) openTable() int { return s.last(isTable, func(open) bool { return false }) }

// startTag opens an element: implied ends first, then its place in the tree.
func (s *scanner) startTag(a atom.Atom, el element, at *attributes) {
	switch el {
	case inline:
		if s.drop != keep {
			if a == s.stack[s.dropAt].atom {
				s.push(a, el, at, keep)
			}
		} else if s.rules.drops(at) {
			s.push(a, el, at, dropInterface)
		}
		return
	case lineBreak:
		if s.drop == keep {
			s.add(node{kind: breakNode})
		}
		return
	case rule:
		s.closeParagraph()
		s.boundary()
		return
	case item:
		s.closeItem(item, item)
		s.closeParagraph()
	case term, definition:
		s.closeItem(term, definition)
		s.closeParagraph()
	case heading:
		s.closeParagraph()
		if s.top() == heading {
			s.pop(len(s.stack) - 1)
		}
	case table:
		s.close(isTable, func(o open) bool { return o.el == cell || o.el == caption }) // between the cells of another
		s.closeParagraph()
	case caption, rowGroup, row, cell:
		if !s.tableTag(el) {
			return
		}
	case paragraph, block, list, definitions:
		s.closeParagraph()
	}
	why := keep
	if s.drop == keep {
		why = s.whyDrop(el, at)
	}
	s.push(a, el, at, why)
}

// whyDrop decides whether a starting element is removed, and keeps the state for later decisions.
func (s *scanner) whyDrop(el element, at *attributes) dropRule {
	if el == hidden {
		return dropInvisible
	}
	if s.rules.drops(at) {
		s.removed.InterfaceElements++
		return dropInterface
	}
	if el == paragraph && s.openTable() < 0 {
		s.sawParagraph = true
	}
	if el != table || !s.titleSeen {
		return keep
	}
	drop := false
	switch s.rules.Infobox {
	case "introductory":
		drop = !s.sawSection && s.rules.isInfobox(at)
	case "first":
		drop = s.removed.Infoboxes == 0 && !s.sawSection && s.rules.isInfobox(at)
	case "all":
		drop = s.rules.isInfobox(at)
	case "first_table":
		drop = !s.sawTable && !s.sawParagraph
	}
	s.sawTable = true
	if drop {
		s.removed.Infoboxes++
		return dropInfobox
	}
	return keep
}

// push opens an element, inside removed elements without a node.
func (s *scanner) push(a atom.Atom, el element, at *attributes, why dropRule) {
	if len(s.stack) >= maxDepth {
		return
	}
	o := open{atom: a, el: el, node: none}
	switch {
	case why != keep:
		if el == inline {
			s.removed.InterfaceElements++
		} else {
			s.boundary()
		}
		s.drop, s.dropAt = why, len(s.stack)
	case s.drop == keep:
		n := node{kind: elementNode, el: el, atom: a, start: at.start, rowspan: at.rowspan, colspan: at.colspan}
		if el == heading {
			s.startHeading(a, &n)
		}
		o.node = s.add(n)
	}
	s.stack = append(s.stack, o)
}

// startHeading makes the first h1 the title, dropping all before; section headings end the introduction's infoboxes.
func (s *scanner) startHeading(a atom.Atom, n *node) {
	n.headerLevel = 1 + int32(slices.Index([]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, a))
	if a != atom.H1 {
		if s.titleSeen && !s.enclosed() {
			s.sawSection = true
		}
		return
	}
	if s.titleSeen {
		return
	}
	s.endSpan() // it began before
	s.titleSeen, s.sawSection, s.sawTable, s.sawParagraph = true, false, false, false
	s.removed.BeforeTitle += s.placed
	s.restartTree()
	s.title = int32(len(s.nodes))
	n.kind = titleNode
}

// restartTree keeps only the open elements.
func (s *scanner) restartTree() {
	kept := lists.Map(s.stack, func(o open) node { return s.nodes[o.node] })
	s.arena, s.placed = s.arena[:0], 0
	s.nodes = append(s.nodes[:0], rootNode)
	parent := root
	for i, n := range kept {
		id := int32(len(s.nodes))
		n.parent, n.first, n.last, n.prev, n.next = parent, none, none, none, none
		s.nodes[parent].first, s.nodes[parent].last = id, id
		s.nodes = append(s.nodes, n)
		s.stack[i].node, parent = id, id
	}
}

// enclosed reports whether a table cell, caption or list item is open, in which headings neither end nor begin a section.
func (s *scanner) enclosed() bool {
	closed := []element{cell, caption, item, term, definition}
	return slices.ContainsFunc(s.stack, func(o open) bool { return slices.Contains(closed, o.el) })
}

// boundary marks the edge of a block without a node.
func (s *scanner) boundary() {
	if s.drop == keep && !s.top().inTable() {
		s.add(node{kind: breakNode})
	}
}

// pop closes the element at position i and all within it.
func (s *scanner) pop(i int) {
	for len(s.stack) > i {
		o := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if s.drop != keep && len(s.stack) == s.dropAt {
			s.drop = keep
		}
		if o.el == heading && o.node != none && s.titleSeen {
			s.endHeading(o.node)
		}
	}
}

// headingText is the text of a heading on one line. Artifacts are counted where the heading is written.
func (s *scanner) headingText(id int32) string {
	artifacts := s.removed.Artifacts
	text := string(s.out.own(id, nil))
	s.removed.Artifacts = artifacts
	return text
}

// endHeading stops the document at a footer's heading.
func (s *scanner) endHeading(id int32) {
	n := &s.nodes[id]
	if s.stopped || s.rules.Footer != "stop" || n.kind == titleNode || n.headerLevel < 2 || int(n.headerLevel) > s.rules.FooterLevel || s.enclosed() {
		return
	}
	s.endSpan()
	text := s.headingText(id)
	if !s.rules.footers[normalizeHeading(text)] {
		return
	}
	s.removed.Footer = text
	s.removed.AfterFooter += s.tokensIn(id)
	n.kind, n.first, n.last = breakNode, none, none
	s.stopped = true
}
