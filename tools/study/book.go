package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// book is the manual: its pages, and its sections in the order of the files' names.
type book struct {
	pages    map[string]*page
	names    []string
	sections []*section
	byAnchor map[string]*section // of "page.html#id" and "page.html"
}

type page struct {
	name string // "sql-vacuum.html"
	body *html.Node
	up   string // the page above, with the heading that it has there
	upAs string
}

// section is a unit of the book: a chapter, a section, a page of reference.
type section struct {
	key     string
	heading string
	title   string // the heading, with those above as far as it takes to be the only one
	text    string
	above   *section
	upAs    string // the heading of the page above, of a page's first section
	node    *html.Node
}

// unitClasses are what the book is divided into. Sections of a page of reference are not
// among them: "Description" and "Parameters" of a command belong to the command.
var unitClasses = []string{
	"part", "reference", "preface", "chapter", "appendix", "sect1", "sect2", "sect3", "sect4", "sect5", "refentry",
}

// outside are pages that are not text of the book's, and the release notes: hundreds of
// sections named "Changes" that its index never points to.
var outside = regexp.MustCompile(`^(bookindex|index|biblio|release.*)\.html$`)

// shortest is how many words a section must have of its own.
const shortest = 12

func readBook(folder string) (*book, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.html"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no *.html", folder)
	}
	slices.Sort(files)
	b := &book{pages: map[string]*page{}, byAnchor: map[string]*section{}}
	for _, file := range files {
		p, err := readPage(file)
		if err != nil {
			return nil, err
		}
		b.pages[p.name] = p
		b.names = append(b.names, p.name)
	}
	for _, name := range b.names {
		if !outside.MatchString(name) {
			b.divide(b.pages[name])
		}
	}
	b.entitle()
	return b, nil
}

func readPage(file string) (*page, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	root, err := html.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &page{name: filepath.Base(file)}
	walk(root, func(n *html.Node) bool {
		switch {
		case n.Data == "body":
			p.body = n
		case n.Data == "a" && attr(n, "accesskey") == "u":
			p.up, p.upAs = attr(n, "href"), heading(attr(n, "title"))
		}
		return true
	})
	if p.body == nil {
		return nil, fmt.Errorf("%s has no body", file)
	}
	return p, nil
}

// divide finds the page's sections, and which of them each anchor lies in.
func (b *book) divide(p *page) {
	var visit func(n *html.Node, in *section)
	visit = func(n *html.Node, in *section) {
		if hasClass(n, unitClasses...) && n.Data == "div" {
			s := &section{node: n, above: in, heading: headingOf(n)}
			s.key = strings.TrimSuffix(p.name, ".html")
			if in == nil {
				s.upAs = p.upAs
				if b.byAnchor[p.name] == nil {
					b.byAnchor[p.name] = s
				}
			} else {
				s.key += "#" + attr(n, "id")
			}
			s.text = ownText(n)
			b.sections = append(b.sections, s)
			in = s
		}
		for _, name := range []string{"id", "name"} {
			if id := attr(n, name); id != "" && in != nil {
				b.byAnchor[p.name+"#"+id] = in
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c, in)
		}
	}
	visit(p.body, nil)
}

// entitle gives each section a title of its own: its heading, or, where others have the
// same, "heading above: heading".
func (b *book) entitle() {
	for _, s := range b.sections {
		s.title = s.heading
	}
	for level := 1; level <= 3; level++ {
		same := map[string]int{}
		for _, s := range b.sections {
			same[fold(s.title)]++
		}
		for _, s := range b.sections {
			if same[fold(s.title)] > 1 {
				if up := s.up(level); up != "" {
					s.title = up + ": " + s.title
				}
			}
		}
	}
}

// up is the heading so many levels above; that of the page above is the last one known.
func (s *section) up(levels int) string {
	for ; levels > 1 && s.above != nil; levels-- {
		s = s.above
	}
	switch {
	case levels > 1:
		return ""
	case s.above != nil:
		return s.above.heading
	}
	return s.upAs
}

// is reports whether it is a document: whether it says something of its own.
func (s *section) is() bool { return len(strings.Fields(s.text)) >= shortest }

// at is the section that a link leads to; nil: none of the book's.
func (b *book) at(from, href string) *section {
	file, id, _ := strings.Cut(href, "#")
	if strings.Contains(file, ":") {
		return nil
	}
	if file == "" {
		file = from
	}
	if id != "" {
		if s := b.byAnchor[file+"#"+id]; s != nil {
			return s
		}
	}
	return b.byAnchor[file]
}

// numbering is what stands before a heading's words: "25.1.6. ", "Chapter 25. ".
var numbering = regexp.MustCompile(`^((Chapter|Appendix|Part)\s+)?([0-9]+|[A-Z]|[IVX]+)(\.[0-9]+)*\.\s+`)

func heading(s string) string {
	return numbering.ReplaceAllString(strings.Join(strings.Fields(s), " "), "")
}

// headingOf is the heading of a unit: of its title page, or its name if it is a page of
// reference.
func headingOf(unit *html.Node) string {
	var found string
	walk(unit, func(n *html.Node) bool {
		if found != "" || (n != unit && hasClass(n, unitClasses...)) {
			return false
		}
		if hasClass(n, "title", "refentrytitle") || n.Data == "h2" {
			found = heading(textOf(n))
		}
		return found == ""
	})
	return found
}
