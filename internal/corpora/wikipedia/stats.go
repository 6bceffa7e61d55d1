package wikipedia

import "github.com/redsi/redsi/internal/system/values"

type NSCount struct {
	Pages     int64 `json:"pages"`
	Revisions int64 `json:"revisions"`
	Redirects int64 `json:"redirects"` // pages
}

// contentExport begins the generator of a MediaWiki Content File Export, which replaces Wikimedia's XML dumps. It has no
// <redirect>, so that Redirects counts none, and may have a page in several files, which Pages counts in each.
const contentExport = "MediaWiki Content File Export"

// Stats counts every page and revision of a file.
type Stats struct {
	Schema    string             `json:"schema"` // of the last document
	Wiki      string             `json:"wiki,omitempty"`
	Pages     int64              `json:"pages"`
	Revisions int64              `json:"revisions"`
	Redirects int64              `json:"redirects"`
	ByNS      map[int32]*NSCount `json:"by_ns"`
	Exports   int64              `json:"content_exports,omitempty"` // documents that are MediaWiki Content File Exports
	Found     int64              `json:"found"`                     // wanted revisions
	Fallbacks int64              `json:"fallbacks"`                 // elements that encoding/xml decoded
	BytesIn   int64              `json:"bytes_in" unit:"bytes"`
	BytesOut  int64              `json:"bytes_out" unit:"bytes"`
}

// Add merges the statistics of another part file.
func (s *Stats) Add(o Stats) {
	s.Schema, s.Wiki = o.Schema, o.Wiki
	values.Add(s, o)
}

func (s *Stats) ns(ns int32) *NSCount {
	c := s.ByNS[ns]
	if c == nil {
		c = &NSCount{}
		s.ByNS[ns] = c
	}
	return c
}
