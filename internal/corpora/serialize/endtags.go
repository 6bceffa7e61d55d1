package serialize

import "golang.org/x/net/html/atom"

// endTag closes the element that an end tag names; without an opener in scope the tag is ignored (HTML Living Standard,
// 13.2.6.4.7 and the table modes).
func (s *scanner) endTag(a atom.Atom, el element) {
	switch el {
	case lineBreak: // "</br>" is a <br>
		if s.drop == keep {
			s.add(node{kind: breakNode})
		}
	case inline:
		s.close(func(o open) bool { return o.atom == a }, func(o open) bool { return o.el != inline })
	case paragraph:
		if !s.closeParagraph() {
			s.boundary() // an empty paragraph
		}
	case heading:
		s.close(func(o open) bool { return o.el == heading }, bounds)
	case item:
		s.close(func(o open) bool { return o.atom == a }, func(o open) bool { return bounds(o) || o.el == list })
	case block, list, definitions, term, definition, hidden:
		s.close(func(o open) bool { return o.atom == a }, bounds)
	case table:
		s.close(isTable, func(open) bool { return false })
	case caption, rowGroup, row, cell:
		s.close(func(o open) bool { return o.atom == a }, isTable)
	}
}

// close ends the innermost open element that match accepts, unless stop accepts an inner one, and reports whether it did.
func (s *scanner) close(match, stop func(open) bool) bool {
	i := s.last(match, stop)
	if i >= 0 {
		s.pop(i)
	}
	return i >= 0
}

// bounds reports whether an element ends the search for the opener of an end tag ("have an element in scope").
func bounds(o open) bool { return o.el == table || o.el == caption || o.el == cell }

// closeParagraph ends an open p, as the start of any block does.
func (s *scanner) closeParagraph() bool {
	return s.close(func(o open) bool { return o.el == paragraph }, bounds)
}

// closeItem ends an open item of either kind, as the start of another does: only address, div and p may lie between.
func (s *scanner) closeItem(one, other element) {
	s.close(func(o open) bool { return o.el == one || o.el == other },
		func(o open) bool {
			return o.el != inline && o.el != paragraph && o.atom != atom.Div && o.atom != atom.Address
		})
}

// tableTag makes room for a part of a table: it closes what is open inside the table and gives a lone row a group, a lone
// cell a row. It reports false outside tables, where the tag is ignored.
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
