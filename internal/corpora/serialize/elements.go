package serialize

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// element is what an HTML element means to the tree and to the lines written from it.
type element uint8

const (
	inline    element = iota // no effect on lines: not in the tree
	void                     // inline without content or end tag
	ignored                  // html, head, body, col: no node, no end
	lineBreak                // br
	rule                     // hr
	raw                      // content is not markup and not visible
	hidden                   // content is markup and not visible
	block                    // starts and ends a line
	paragraph
	heading
	list
	item
	definitions
	term
	definition
	table // each of these may hold the next
	caption
	rowGroup
	row
	cell
)

// elementOf classifies a tag name (HTML Living Standard, 13.1 and 15.3).
func elementOf(a atom.Atom) element {
	switch a {
	case atom.Img, atom.Input, atom.Meta, atom.Link, atom.Wbr, atom.Area, atom.Base, atom.Embed, atom.Param, atom.Source, atom.Track:
		return void
	case atom.Html, atom.Head, atom.Body, atom.Col, atom.Colgroup, atom.Frame, atom.Frameset:
		return ignored
	case atom.Br:
		return lineBreak
	case atom.Hr:
		return rule
	case atom.Script, atom.Style, atom.Title, atom.Iframe, atom.Noembed, atom.Noframes:
		return raw
	case atom.Template:
		return hidden
	case atom.P:
		return paragraph
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return heading
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		return list
	case atom.Li:
		return item
	case atom.Dl:
		return definitions
	case atom.Dt:
		return term
	case atom.Dd:
		return definition
	case atom.Table:
		return table
	case atom.Caption:
		return caption
	case atom.Tbody, atom.Thead, atom.Tfoot:
		return rowGroup
	case atom.Tr:
		return row
	case atom.Td, atom.Th:
		return cell
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Div,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header, atom.Hgroup, atom.Main,
		atom.Nav, atom.Pre, atom.Listing, atom.Section, atom.Summary, atom.Legend, atom.Optgroup, atom.Option, atom.Search:
		return block
	}
	return inline
}

// inTable reports whether an element may hold only table structure; other content goes before the table ("foster parenting").
func (e element) inTable() bool { return e == table || e == rowGroup || e == row }

// level is 1 to 6 for h1 to h6.
func level(a atom.Atom) int {
	return 1 + slices.Index([]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, a)
}
