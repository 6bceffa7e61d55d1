package pipeline

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Before is the text of a place's line up to the place.
func (ds Diagnostics) Before(file string, p hcl.Pos) string {
	src := ds.sources[file]
	end := min(p.Byte, len(src))
	return string(src[strings.LastIndexByte(string(src[:end]), '\n')+1 : end])
}

// Place is a further place that a diagnostic shows, and what it says there.
type Place struct {
	Range hcl.Range
	Text  string
}

// Related lists the further places of a diagnostic.
func Related(d *hcl.Diagnostic) []Place {
	places, _ := d.Extra.([]Place)
	return places
}

// NewDiagnostics is a list of diagnostics about sources of whatever kind, by name.
func NewDiagnostics(list hcl.Diagnostics, sources map[string][]byte) Diagnostics {
	c := newCollector(sources)
	c.hcl(list, hcl.Range{})
	return c.done()
}
