package main

import (
	"errors"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// entry is a line of the book's index.
type entry struct {
	primary string // the word that it stands under
	text    string // "primary, secondary"
	links   []*section
	see     []string // ids or texts of the entries to look at instead
}

var seeNote = regexp.MustCompile(`\s*\(see( also)? [^()]*(\([^()]*\)[^()]*)*\)`)

// readIndex reads bookindex.html and follows "see", not "see also".
func (b *book) readIndex() ([]entry, error) {
	p := b.pages["bookindex.html"]
	if p == nil {
		return nil, errors.New("the manual has no bookindex.html")
	}
	r := &indexReader{book: b, byID: map[string]int{}, byText: map[string]int{}}
	walk(p.body, func(n *html.Node) bool {
		if hasClass(n, "indexdiv") {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.Data == "dl" {
					r.list(c, nil)
				}
			}
			return false
		}
		return true
	})
	if len(r.entries) == 0 {
		return nil, errors.New("bookindex.html has no entries")
	}
	r.follow()
	return r.entries, nil
}

type indexReader struct {
	book         *book
	entries      []entry
	byID, byText map[string]int
}

// list reads a dl: a dt is an entry, the dd behind it has those below it.
func (r *indexReader) list(dl *html.Node, above []string) {
	var last string
	for c := dl.FirstChild; c != nil; c = c.NextSibling {
		switch c.Data {
		case "dt":
			last = r.entry(c, above)
		case "dd":
			for d := c.FirstChild; d != nil; d = d.NextSibling {
				if d.Data == "dl" {
					r.list(d, append(above[:len(above):len(above)], last))
				}
			}
		}
	}
}

func (r *indexReader) entry(dt *html.Node, above []string) string {
	var e entry
	var own strings.Builder
	for c := dt.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case hasClass(c, "indexterm"):
			if s := r.book.at("", attr(c, "href")); s != nil {
				e.links = append(e.links, s)
			}
		case c.Data == "a":
			own.WriteString(textOf(c))
			e.see = append(e.see, strings.TrimPrefix(attr(c, "href"), "#"))
		case len(e.links) == 0:
			own.WriteString(c.Data)
		}
	}
	name := strings.Join(strings.Fields(own.String()), " ")
	note := seeNote.FindString(name)
	switch {
	case strings.Contains(note, "(see also"):
		e.see = nil
	case note != "" && e.see == nil:
		e.see = []string{strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(note), "(see "), ")")}
	}
	name = strings.TrimRight(seeNote.ReplaceAllString(name, ""), ", ")
	path := append(above[:len(above):len(above)], name)
	e.primary, e.text = path[0], strings.Join(path, ", ")
	if name == "" {
		return name // "(see also …)" alone
	}
	if id := attr(dt, "id"); id != "" {
		r.byID[id] = len(r.entries)
	}
	r.byText[fold(e.text)] = len(r.entries)
	r.entries = append(r.entries, e)
	return name
}

// follow gives entries that say "see" the links of those that they name. A name of two
// levels is written with a comma; where that is not an entry's, the first level is meant.
func (r *indexReader) follow() {
	for i := range r.entries {
		e := &r.entries[i]
		for _, to := range e.see {
			j, ok := r.byID[to]
			if !ok {
				j, ok = r.byText[fold(to)]
			}
			if !ok || j == i {
				continue
			}
			e.links = append(e.links, r.entries[j].links...)
			e.primary = r.entries[j].primary // no split parts what means the same
		}
	}
}
