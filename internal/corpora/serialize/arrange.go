package serialize

import "slices"

// arranger applies the section rules to a finished tree: it orders the lead (Options.Lead) and removes footer sections
// (Options.Footer). A section ends at the next heading up to h3; frames such as div neither hold nor end a section.
type arranger struct {
	s                  *scanner
	at                 place
	paragraphs, others []int32 // the lead's
}

// deepestSection is the deepest heading that NQ's tokens mark: the released code reads h4 to h6 as text of their section.
const deepestSection = 3

type place uint8

const (
	inLead place = iota // before the first section heading
	inBody
	inFooter // in a removed section
)

func (s *scanner) arrange() {
	a := arranger{s: s}
	switch {
	case s.rules.Footer == "section" && s.title == 0:
		a.at = inFooter // the document has no heading
	case s.rules.Lead != "paragraphs_first":
		a.at = inBody
	}
	a.walk(root)
	for _, id := range slices.Backward(append(a.paragraphs, a.others...)) { // the last first, each in front of all
		s.link(id, root, s.nodes[root].first)
	}
}

// walk visits the children of a frame in order, until no rule applies to the rest.
func (a *arranger) walk(id int32) {
	s := a.s
	for c := s.nodes[id].first; c != none && !(a.at == inBody && s.rules.Footer == "stop"); {
		n := &s.nodes[c]
		next := n.next
		switch {
		case n.kind == titleNode || n.kind == breakNode:
		case n.kind == elementNode && (n.el == block || c < s.title):
			a.walk(c)
		case n.kind == elementNode && n.el == heading && n.headerLevel <= deepestSection:
			a.heading(c)
		case a.at == inFooter:
			s.removed.AfterFooter += s.cut(c)
		case a.at == inBody:
		case n.kind == textNode || n.el == table || n.el == heading:
			s.removed.Lead += s.cut(c)
		case n.el == paragraph:
			s.cut(c)
			a.paragraphs = append(a.paragraphs, c)
		default:
			s.cut(c)
			a.others = append(a.others, c)
		}
		c = next
	}
}

// heading begins a section.
func (a *arranger) heading(id int32) {
	s := a.s
	a.at = inBody
	if s.rules.Footer != "section" || int(s.nodes[id].headerLevel) > s.rules.FooterLevel {
		return
	}
	text := s.headingText(id)
	if text != "" && !s.rules.footers[normalizeHeading(text)] {
		return
	}
	a.at = inFooter
	if s.removed.Footer == "" {
		s.removed.Footer = text
	}
	s.removed.AfterFooter += s.cut(id)
}

// cut takes a node out of the tree and counts its tokens.
func (s *scanner) cut(id int32) int {
	n := &s.nodes[id]
	if n.prev != none {
		s.nodes[n.prev].next = n.next
	} else {
		s.nodes[n.parent].first = n.next
	}
	if n.next != none {
		s.nodes[n.next].prev = n.prev
	} else {
		s.nodes[n.parent].last = n.prev
	}
	return s.tokensIn(id)
}
