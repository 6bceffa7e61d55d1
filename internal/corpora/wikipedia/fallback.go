package wikipedia

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
)

// element is any element below <mediawiki> as encoding/xml sees it.
type element struct {
	XMLName xml.Name
	Text    string   `xml:",chardata"`
	Title   string   `xml:"title,attr"` // of a redirect
	IDs     []string `xml:"id"`         // children only
	DBName  string   `xml:"dbname"`
	Made    string   `xml:"generator"`
	NS      []struct {
		Key  int32  `xml:"key,attr"`
		Name string `xml:",chardata"`
	} `xml:"namespaces>namespace"`
}

// decode reads the next element or comment at the current position, or reports that it was end's end tag.
func (s *stub) decode(end string) (e *element, ended bool, err error) {
	if b := s.w.rest(); len(b) > 0 && b[0] != '<' {
		return nil, false, malformedf("text where an element was expected: %.40q", b[:min(len(b), 40)])
	}
	for len(s.w.rest()) < len(end)+3 {
		if err := s.need(); err != nil {
			return nil, false, err
		}
	}
	if tag, ok := bytes.CutPrefix(s.w.rest(), []byte("</"+end)); ok && len(tag) > 0 && (tag[0] == '>' || blanks(tag) > 0) {
		s.w.pos += len("</" + end)
		if b, err := s.skipBlanks(); err != nil {
			return nil, false, err
		} else if b[0] != '>' {
			return nil, false, malformedf("bad end tag of %s", end)
		}
		s.w.pos++
		return nil, true, nil
	}
	dec := xml.NewDecoder(s.w)
	token, err := dec.Token()
	if err != nil {
		return nil, false, s.eof(err)
	}
	start, ok := token.(xml.StartElement)
	if !ok {
		switch token.(type) {
		case xml.Comment, xml.ProcInst:
			return nil, false, nil
		}
		return nil, false, malformedf("an element was expected in %s", end)
	}
	s.stats.Fallbacks++
	e = &element{}
	return e, false, s.eof(dec.DecodeElement(e, &start))
}

// eof turns an end of the text inside an element into io.ErrUnexpectedEOF.
func (s *stub) eof(err error) error {
	if err != nil && s.w.err != nil && len(s.w.rest()) == 0 {
		if s.w.err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return s.w.err
	}
	return err
}

// root reads the text before the first page or header.
func (s *stub) root() error {
	if _, err := s.at("\xef\xbb\xbf"); err != nil {
		return err
	}
	s.names = nil
	if b, err := s.skipBlanks(); err != nil {
		return s.eof(err)
	} else if b[0] != '<' {
		for len(s.w.rest()) < 20 && s.w.more() {
		}
		return malformedf("not a MediaWiki export: it begins with %q", s.w.rest()[:min(len(s.w.rest()), 20)])
	}
	dec := xml.NewDecoder(s.w)
	for {
		token, err := dec.Token()
		if err != nil {
			return s.eof(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local != "mediawiki" {
			return malformedf("not a MediaWiki export: its first element is <%s>", start.Name.Local)
		}
		s.stats.Schema = ""
		for _, a := range start.Attr {
			if a.Name.Local == "version" {
				s.stats.Schema = a.Value
			}
		}
		return nil
	}
}

// oddTopLevel reads an element beside plain pages: the header, for its namespaces, or any other.
func (s *stub) oddTopLevel() (ended bool, err error) {
	if tag := s.w.rest(); bytes.HasPrefix(tag, []byte("<page")) && len(tag) > 5 && !nameByte[tag[5]] {
		return false, s.oddPage()
	}
	e, ended, err := s.decode("mediawiki")
	if err != nil || ended || e == nil {
		return ended, err
	}
	if e.XMLName.Local == "siteinfo" {
		s.stats.Wiki = e.DBName
		if strings.HasPrefix(e.Made, contentExport) {
			s.stats.Exports++
		}
		s.names = map[string]int32{}
		for _, ns := range e.NS {
			if ns.Name != "" {
				s.names[ns.Name] = ns.Key
			}
		}
	}
	return false, nil
}

// oddPage reads a page whose open tag is not plain.
func (s *stub) oddPage() error {
	offset := s.w.offset()
	s.stats.Fallbacks++
	if _, err := xml.NewDecoder(s.w).Token(); err != nil {
		return s.eof(err)
	}
	return s.readPage(offset)
}

// raw escapes text as in a dump, for resolved.
func raw(text string) []byte {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes all
	return b.Bytes()
}

// oddChild reads a child of a page in an unusual form. It reports whether it was the page's end tag.
func (s *stub) oddChild() (ended bool, err error) {
	at := s.w.offset()
	e, ended, err := s.decode("page")
	if err != nil || ended || e == nil {
		return ended, err
	}
	p := &s.page
	wrong := func(what string) error {
		return malformedf("<%s> at byte %d %s", e.XMLName.Local, at, what)
	}
	switch name := e.XMLName.Local; name {
	case "id":
		if !p.set(name, []byte(strings.TrimSpace(e.Text))) {
			return false, wrong("is not an id, or a second one")
		}
	case "ns":
		if !p.set(name, []byte(strings.TrimSpace(e.Text))) {
			return false, wrong("is not a namespace, or a second one")
		}
	case "title":
		if !p.set(name, raw(e.Text)) {
			return false, wrong("is a second one")
		}
	case "redirect":
		p.redirects, p.target = true, raw(e.Title)
	case "revision":
		if len(e.IDs) != 1 {
			return false, wrong("has no id, or several")
		}
		id, err := parseID(e.IDs[0])
		if err != nil {
			return false, wrong("has a bad id")
		}
		s.revision(id)
	}
	return false, nil
}
