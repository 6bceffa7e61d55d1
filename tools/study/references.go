package main

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// reference is what the book says of a section elsewhere: the words of a link to it, or a
// sentence that refers to it.
type reference struct {
	kind string // "link" or "sentence"
	text string
	to   []*section
}

// readReferences reads every page, those that are not documents too.
func (b *book) readReferences() []reference {
	var out []reference
	for _, name := range b.names {
		if name == "bookindex.html" || name == "index.html" {
			continue
		}
		walk(b.pages[name].body, func(n *html.Node) bool {
			if hasClass(n, "toc", "navheader", "navfooter") {
				return false
			}
			if n.Data == "p" {
				out = append(out, b.paragraph(name, n)...)
			}
			return true
		})
	}
	return out
}

// In a paragraph's text a mark stands for each reference that counts, and a hole where the
// book says no more than "Section 25.1.6".
const (
	mark = "\x00"
	hole = "\x01"
)

var number = regexp.MustCompile(`^(Section|Chapter|Part|Appendix|Table|Figure|Example)\s`)

func (b *book) paragraph(name string, p *html.Node) []reference {
	var out []reference
	var to []*section
	var text strings.Builder
	here := b.enclosing(name, p)
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
			return
		}
		if n.Data == "a" && hasClass(n, "xref", "link") {
			s := b.at(name, attr(n, "href"))
			words := textOf(n)
			if s != nil && s.is() && s != here {
				if hasClass(n, "link") && len(strings.Fields(words)) > 1 {
					out = append(out, reference{kind: "link", text: words, to: []*section{s}})
				}
				to = append(to, s)
				text.WriteString(mark)
			}
			if number.MatchString(words) {
				words = hole
			}
			text.WriteString(words)
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
	}
	visit(p)
	if len(to) > 0 {
		out = append(out, sentences(strings.Join(strings.Fields(text.String()), " "), to)...)
	}
	return out
}

// enclosing is the section that a node lies in.
func (b *book) enclosing(name string, n *html.Node) *section {
	for ; n != nil; n = n.Parent {
		if n.Data == "div" && hasClass(n, unitClasses...) {
			return b.byAnchor[name+"#"+attr(n, "id")]
		}
	}
	return nil
}
