package lsp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"sort"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// text is a document with the offsets of its lines.
type text struct {
	src    string
	starts []int
}

func newText(src string) *text {
	t := &text{src: src, starts: []int{0}}
	for i := range len(src) {
		if src[i] == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// offset is the byte at a position; of one beyond a line or the text, the end of these.
func (t *text) offset(p position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.starts):
		return len(t.src)
	}
	at, units := t.starts[p.Line], 0
	for at < len(t.src) && t.src[at] != '\n' && units < p.Character {
		r, n := utf8.DecodeRuneInString(t.src[at:])
		at, units = at+n, units+utf16.RuneLen(r)
	}
	return at
}

func (t *text) position(offset int) position {
	offset = min(max(offset, 0), len(t.src))
	line := sort.SearchInts(t.starts, offset+1) - 1
	return position{line, units(t.src[t.starts[line]:offset])}
}

func (t *text) span(r hcl.Range) span { return span{t.position(r.Start.Byte), t.position(r.End.Byte)} }

// units counts UTF-16 code units.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// pathOf is the file that a URI names.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return "", &rpcError{codeParams, fmt.Sprintf("%q is not the URI of a file: want file:///PATH", uri)}
	}
	return filepath.Clean(u.Path), nil
}

func uriOf(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}
