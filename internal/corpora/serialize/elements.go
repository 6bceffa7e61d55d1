package serialize

import "golang.org/x/net/html/atom"

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

// elementOf classifies tag names (HTML Living Standard, 13.1 and 15.3); all others are inline.
var elementOf = map[atom.Atom]element{
	atom.Img: void, atom.Input: void, atom.Meta: void, atom.Link: void, atom.Wbr: void, atom.Area: void,
	atom.Base: void, atom.Embed: void, atom.Param: void, atom.Source: void, atom.Track: void,
	atom.Html: ignored, atom.Head: ignored, atom.Body: ignored, atom.Col: ignored, atom.Colgroup: ignored,
	atom.Frame: ignored, atom.Frameset: ignored,
	atom.Br: lineBreak, atom.Hr: rule, atom.Template: hidden, atom.P: paragraph,
	atom.Script: raw, atom.Style: raw, atom.Title: raw, atom.Iframe: raw, atom.Noembed: raw, atom.Noframes: raw,
	atom.H1: heading, atom.H2: heading, atom.H3: heading, atom.H4: heading, atom.H5: heading, atom.H6: heading,
	atom.Ul: list, atom.Ol: list, atom.Menu: list, atom.Dir: list, atom.Li: item,
	atom.Dl: definitions, atom.Dt: term, atom.Dd: definition,
	atom.Table: table, atom.Caption: caption, atom.Tbody: rowGroup, atom.Thead: rowGroup, atom.Tfoot: rowGroup,
	atom.Tr: row, atom.Td: cell, atom.Th: cell,
	atom.Address: block, atom.Article: block, atom.Aside: block, atom.Blockquote: block, atom.Center: block,
	atom.Details: block, atom.Dialog: block, atom.Div: block, atom.Fieldset: block, atom.Figcaption: block,
	atom.Figure: block, atom.Footer: block, atom.Form: block, atom.Header: block, atom.Hgroup: block, atom.Main: block,
	atom.Nav: block, atom.Pre: block, atom.Listing: block, atom.Section: block, atom.Summary: block,
	atom.Legend: block, atom.Optgroup: block, atom.Option: block, atom.Search: block,
}

// inTable reports whether an element may hold only table structure; other content goes before the table ("foster parenting").
func (e element) inTable() bool { return e == table || e == rowGroup || e == row }
