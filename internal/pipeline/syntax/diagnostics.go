package syntax

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/system/words"
)

// Question asks a person at the terminal for a variable without a value that errors are about.
type Question struct{ Variable, Text string }

// Lacks says what this process lacks for a pipeline, and another may have.
type Lacks struct {
	Secrets bool // values of sensitive variables
	Files   bool // that nobody had asked for when the pipeline was loaded first
}

// Diagnostics are the errors and warnings of a pipeline, in the order of the sources.
type Diagnostics struct {
	List      hcl.Diagnostics
	Questions []Question        // whose answers could mend errors
	Lacks     Lacks             // of errors that another process may not have
	sources   map[string][]byte // what the excerpts are taken from
}

// HasErrors reports whether any diagnostic is an error.
func (ds Diagnostics) HasErrors() bool { return ds.List.HasErrors() }

// Count returns the numbers of errors and warnings.
func (ds Diagnostics) Count() (errors, warnings int) {
	for _, d := range ds.List {
		if d.Severity == hcl.DiagError {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// Summary counts in words: "2 errors, 1 warning".
func (ds Diagnostics) Summary() string {
	n, m := ds.Count()
	switch {
	case m == 0:
		return words.Count(n, "error")
	case n == 0:
		return words.Count(m, "warning")
	}
	return words.Count(n, "error") + ", " + words.Count(m, "warning")
}

// Lines are the errors in few words, a line each with its place.
func (ds Diagnostics) Lines() string {
	const most = 5
	var lines []string
	for _, d := range ds.List {
		if d.Severity == hcl.DiagError {
			lines = append(lines, fmt.Sprintf("%s:%d: %s", d.Subject.Filename, d.Subject.Start.Line, d.Detail))
		}
	}
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %s more", words.Count(n, "error")))
	}
	return strings.Join(lines, "\n")
}

// Before is the text of a place's line up to the place.
func (ds Diagnostics) Before(file string, p hcl.Pos) string {
	src := ds.sources[file]
	end := min(p.Byte, len(src))
	return string(src[strings.LastIndexByte(string(src[:end]), '\n')+1 : end])
}

// MarshalJSON writes a list of objects with severity, summary, detail and range.
func (ds Diagnostics) MarshalJSON() ([]byte, error) {
	type place struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	type also struct {
		place
		Text string `json:"text"`
	}
	type entry struct {
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
		Detail   string `json:"detail"`
		place
		End     place  `json:"end"`
		Related []also `json:"related,omitempty"`
	}
	at := func(file string, p hcl.Pos) place { return place{file, p.Line, p.Column} }
	list := make([]entry, 0, len(ds.List))
	for _, d := range ds.List {
		e := entry{Severity: severity(d), Summary: d.Summary, Detail: d.Detail,
			place: at(d.Subject.Filename, d.Subject.Start), End: at(d.Subject.Filename, d.Subject.End)}
		for _, r := range Related(d) {
			e.Related = append(e.Related, also{at(r.Range.Filename, r.Range.Start), r.Text})
		}
		list = append(list, e)
	}
	return json.Marshal(list)
}

func severity(d *hcl.Diagnostic) string {
	if d.Severity == hcl.DiagError {
		return "error"
	}
	return "warning"
}
