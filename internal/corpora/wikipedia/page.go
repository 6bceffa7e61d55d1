package wikipedia

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

type stub struct {
	w        *window
	taken    *unpack.Counter
	wanted   Wanted
	progress func(storedIn int64)
	stats    Stats
	entries  []Entry
	page     page
	names    map[string]int32 // namespaces of the header, nil without header
}

type page struct {
	id        uint64
	title     []byte // raw
	hasTitle  bool
	ns        int32
	hasNS     bool
	redirects bool
	target    []byte // of the redirect, raw
	revisions int64
	found     []uint64 // wanted revisions
	offset    int64
}

// malformed is an error about the text at the current position.
type malformed struct{ detail string }

func (m *malformed) Error() string { return m.detail }

func malformedf(format string, args ...any) error { return &malformed{fmt.Sprintf(format, args...)} }

func (s *stub) explain(name string, err error) error {
	e := &StubError{File: name, Offset: s.w.offset()}
	var m *malformed
	switch {
	case errors.As(err, &m):
		e.Detail = m.detail
	case errors.Is(s.w.err, context.Canceled), errors.Is(s.w.err, context.DeadlineExceeded):
		e.Detail, e.Err = "stopped", s.w.err
	case s.w.err != nil && s.w.err != io.EOF:
		e.Detail = fmt.Sprintf("the input is damaged or ends early, within its first %d stored bytes, after %d pages and %d revisions",
			s.taken.Taken(), s.stats.Pages, s.stats.Revisions)
		e.Err = s.w.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Detail, e.Err = "the text ends inside "+s.where(), ErrTruncated
	default:
		e.Detail, e.Err = "not well-formed in "+s.where(), err
	}
	return e
}

func (s *stub) where() string {
	switch {
	case s.page.id != 0:
		return fmt.Sprintf("page %d, which begins at byte %d", s.page.id, s.page.offset)
	case s.page.offset != 0:
		return fmt.Sprintf("the page that begins at byte %d", s.page.offset)
	}
	return "the dump, outside of pages"
}

func (s *stub) account() {
	s.stats.BytesIn, s.stats.BytesOut = s.taken.Taken(), s.w.offset()
	if s.progress != nil {
		s.progress(s.stats.BytesIn)
	}
}

// need reads more text; io.ErrUnexpectedEOF at the end.
func (s *stub) need() error {
	if len(s.w.rest()) > maxUnit {
		return malformedf("one element has more than %d bytes", maxUnit)
	}
	s.account()
	if !s.w.more() {
		if s.w.err != io.EOF {
			return s.w.err
		}
		return io.ErrUnexpectedEOF
	}
	return nil
}

// skipBlanks moves to the next byte that is not white space and returns the text from there; io.EOF at the end.
func (s *stub) skipBlanks() ([]byte, error) {
	for {
		s.w.pos += blanks(s.w.rest())
		if b := s.w.rest(); len(b) > 0 {
			return b, nil
		}
		s.account()
		if !s.w.more() {
			return nil, s.w.err
		}
	}
}

// at reports whether the text continues with want, and consumes it if so.
func (s *stub) at(want string) (bool, error) {
	for {
		switch literal(s.w.rest(), want) {
		case done:
			s.w.pos += len(want)
			return true, nil
		case odd:
			return false, nil
		}
		if err := s.need(); err != nil {
			return false, err
		}
	}
}

// documents reads one document after another, as in joined files.
func (s *stub) documents() error {
	for n := 0; ; n++ {
		if _, err := s.skipBlanks(); err == io.EOF && n > 0 {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.root(); err != nil {
			return err
		}
		if err := s.pages(); err != nil {
			return err
		}
	}
}

// pages reads to the end of one document.
func (s *stub) pages() error {
	for {
		if _, err := s.skipBlanks(); err != nil {
			return err
		}
		offset := s.w.offset()
		if ok, err := s.at("<page>"); err != nil {
			return err
		} else if ok {
			if err := s.readPage(offset); err != nil {
				return err
			}
			continue
		}
		if ended, err := s.oddTopLevel(); ended || err != nil {
			return err
		}
	}
}

// readPage reads the children of the page at offset, whose open tag is consumed.
func (s *stub) readPage(offset int64) error {
	p := &s.page
	*p = page{title: p.title[:0], target: p.target[:0], found: p.found[:0], offset: offset}
	for {
		b, err := s.skipBlanks()
		if err != nil {
			return err
		}
		var st status
		var n int
		var text []byte
		var leafName string
		switch {
		case literal(b, openRevision) == done:
			var id uint64
			if id, n, st = revision(b); st == done {
				s.revision(id)
			}
		case literal(b, "<id>") == done:
			text, n, st = leaf(b, "<id>", "</id>")
			leafName = "id"
		case literal(b, "<ns>") == done:
			text, n, st = leaf(b, "<ns>", "</ns>")
			leafName = "ns"
		case literal(b, "<title>") == done:
			text, n, st = leaf(b, "<title>", "</title>")
			leafName = "title"
		case literal(b, "<redirect") == done:
			if text, n, st = redirect(b); st == done {
				p.redirects, p.target = true, append(p.target[:0], text...)
			}
		case literal(b, "</page>") == done:
			s.w.pos += len("</page>")
			return s.endPage()
		case len(b) < len(openRevision):
			st = more
		default:
			st = odd
		}
		if leafName != "" && st == done && !p.set(leafName, text) {
			st = odd
		}
		switch st {
		case done:
			s.w.pos += n
		case odd:
			if ended, err := s.oddChild(); err != nil {
				return err
			} else if ended {
				return s.endPage()
			}
		case more:
			if err := s.need(); err != nil {
				return err
			}
		}
	}
}

// set takes the raw text of a child; it reports false for a second child of the name, and for an impossible text.
func (p *page) set(name string, text []byte) (ok bool) {
	switch name {
	case "id":
		if p.id == 0 {
			p.id, ok = number(text)
		}
	case "ns":
		ns, err := strconv.ParseInt(string(text), 10, 32)
		if ok = err == nil && !p.hasNS; ok {
			p.ns, p.hasNS = int32(ns), true
		}
	case "title":
		if ok = !p.hasTitle; ok {
			p.title, p.hasTitle = append(p.title, text...), true
		}
	}
	return ok
}

func (s *stub) revision(id uint64) {
	s.page.revisions++
	if s.wanted[id] {
		s.page.found = append(s.page.found, id)
	}
}

// endPage counts the page and keeps its wanted revisions.
func (s *stub) endPage() error {
	p := &s.page
	if p.id == 0 || !p.hasTitle {
		return malformedf("the page that begins at byte %d has no id or no title", p.offset)
	}
	var title, target string
	if len(p.found) > 0 || !p.hasNS {
		var err error
		if title, err = resolved(p.title); err != nil {
			return malformedf("the title of page %d: %v", p.id, err)
		}
		if target, err = resolved(p.target); err != nil {
			return malformedf("the redirect of page %d: %v", p.id, err)
		}
	}
	if !p.hasNS {
		p.ns = s.namespaceOf(title)
	}
	c := s.stats.ns(p.ns)
	c.Pages++
	c.Revisions += p.revisions
	s.stats.Pages++
	s.stats.Revisions += p.revisions
	if p.redirects {
		c.Redirects++
		s.stats.Redirects++
	}
	for _, id := range p.found {
		s.entries = append(s.entries, Entry{OldID: id, PageID: p.id, Title: title, NS: p.ns, Redirect: p.redirects, Target: target})
	}
	*p = page{title: p.title, target: p.target, found: p.found}
	return nil
}

// resolved is raw XML text with its entities resolved.
func resolved(raw []byte) (text string, err error) {
	err = xml.Unmarshal(slices.Concat([]byte("<t>"), raw, []byte("</t>")), &text)
	return text, err
}

// namespaceOf derives the namespace from a title's prefix.
func (s *stub) namespaceOf(title string) int32 {
	if s.names == nil {
		return NSUnknown
	}
	if prefix, _, ok := strings.Cut(title, ":"); ok {
		if ns, ok := s.names[prefix]; ok {
			return ns
		}
	}
	return 0
}
