package serialize

import "golang.org/x/net/html/atom"

// endTag closes what an end tag closes; one without an opener in scope is
// ignored (HTML Living Standard, 13.2.6.4.7 and the table modes).
func (s *scanner) endTag(a atom.Atom, el element) {
	switch el {
	case lineBreak: // "</br>" is a <br>
		if s.drop == keep {
			s.add(node{kind: breakNode})
		}
	case inline:
		for i := len(s.stack) - 1; i >= 0 && s.stack[i].el == inline; i-- {
			if s.stack[i].atom == a {
				s.pop(i)
				return
			}
		}
	case paragraph:
		if i := s.find(isParagraph, nil); i >= 0 {
			s.pop(i)
		} else {
			s.boundary() // an empty paragraph
		}
	case heading:
		s.close(func(o open) bool { return o.el == heading }, nil)
	case item:
		s.close(func(o open) bool { return o.atom == a }, func(o open) bool { return o.el == list })
	case block, list, definitions, term, definition, hidden:
		s.close(func(o open) bool { return o.atom == a }, nil)
	case table:
		if i := s.openTable(); i >= 0 {
			s.pop(i)
		}
	case caption, rowGroup, row, cell:
		for i := len(s.stack) - 1; i >= 0 && s.stack[i].el != table; i-- {
			if s.stack[i].atom == a {
				s.pop(i)
				return
			}
		}
	}
}

// find is the position of the innermost open element that match accepts, or -1
// where a table, a cell, a caption or what stop accepts comes first.
func (s *scanner) find(match, stop func(open) bool) int {
	for i := len(s.stack) - 1; i >= 0; i-- {
		o := s.stack[i]
		if match(o) {
			return i
		}
		if o.el.bounds() || stop != nil && stop(o) {
			return -1
		}
	}
	return -1
}

func (s *scanner) close(match, stop func(open) bool) {
	if i := s.find(match, stop); i >= 0 {
		s.pop(i)
	}
}

// closeParagraph ends an open p, as the start of any block does.
func (s *scanner) closeParagraph() {
	s.close(isParagraph, nil)
}

func isParagraph(o open) bool { return o.el == paragraph }

// closeItem ends an open item (of either of two kinds) that the start of another
// one ends: the search stops at any block but address, div and p.
func (s *scanner) closeItem(one, other element) {
	for i := len(s.stack) - 1; i >= 0; i-- {
		o := s.stack[i]
		if o.el == one || o.el == other {
			s.pop(i)
			return
		}
		if o.el != inline && o.el != paragraph && o.atom != atom.Div && o.atom != atom.Address {
			return
		}
	}
}

// tableTag makes room for a part of a table: what is open inside the table is
// closed, a row without a group and a cell without a row get one. It reports false
// outside tables, where the tag is ignored.
func (s *scanner) tableTag(el element) bool {
	t := s.openTable()
	if t < 0 {
		return false
	}
	keepTo := t + 1
	for _, outer := range []element{rowGroup, row} {
		if outer >= el || keepTo >= len(s.stack) || s.stack[keepTo].el != outer {
			break
		}
		keepTo++
	}
	s.pop(keepTo)
	for _, implied := range []struct {
		el   element
		atom atom.Atom
	}{{rowGroup, atom.Tbody}, {row, atom.Tr}} {
		if implied.el < el && s.top() < implied.el {
			s.push(implied.atom, implied.el, &attributes{rowspan: 1, colspan: 1}, keep)
		}
	}
	return true
}
