package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/system/words"
)

// Diagnostics is what is wrong with a pipeline, errors and warnings, in the
// order of the sources.
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

// Err returns the errors as one error whose text is the whole report; nil if
// there are none.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return &Invalid{ds}
}

// Invalid is the error of a pipeline that cannot be loaded.
type Invalid struct{ Diagnostics Diagnostics }

func (e *Invalid) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the pipeline has %s:\n\n", e.Diagnostics.Summary())
	e.Diagnostics.Write(&b, Style{}) // a strings.Builder does not fail
	return strings.TrimRight(b.String(), "\n")
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

// collector gathers diagnostics. Those that say the same of the same place, as
// the instances of one block or the elements of one for expression do, become one.
type collector struct {
	list    hcl.Diagnostics
	at      map[string]int // what makes a diagnostic the same as another -> index
	more    map[int]*repeated
	within  []Place // the modules that are being loaded, innermost first
	sources map[string][]byte
}

type repeated struct {
	first  instance
	others map[string]bool // further instances, by key
	values int             // further values within the first instance
}

func newCollector(sources map[string][]byte) *collector {
	return &collector{at: map[string]int{}, more: map[int]*repeated{}, sources: maps.Clone(sources)}
}

func (c *collector) failed() bool { return c.list.HasErrors() }

func (c *collector) error(rng hcl.Range, summary, detail string, also ...Place) {
	c.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng, Extra: also}, nil, detail)
}

func (c *collector) warn(rng hcl.Range, summary, detail string) {
	c.add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: &rng}, nil, detail)
}

// hcl adds the library's diagnostics; those without a place get rng.
func (c *collector) hcl(ds hcl.Diagnostics, rng hcl.Range) {
	for _, d := range ds {
		if d.Summary == "Invalid template control keyword" || d.Summary == "Invalid template directive" {
			e := *d
			e.Detail += " For a program's own %{, such as curl's, write %%{."
			d = &e
		}
		c.addHCL(d, rng, nil)
	}
}

func (c *collector) addHCL(d *hcl.Diagnostic, rng hcl.Range, inst *instance) {
	e := *d
	if e.Subject == nil {
		e.Subject = &rng
	}
	e.Extra = nil
	about := d.Detail
	if inst != nil && inst.keyed {
		about = ""
	}
	c.add(&e, inst, about)
}

// add files a diagnostic about something within one instance of a block, or,
// with nil, about none in particular.
func (c *collector) add(d *hcl.Diagnostic, inst *instance, about string) {
	d.Detail = brief(d.Detail)
	id := fmt.Sprintf("%s:%d:%d %d %s\x00%s", d.Subject.Filename, d.Subject.Start.Byte, d.Subject.End.Byte, d.Severity, d.Summary, about)
	if len(c.within) > 0 {
		d.Extra = append(slices.Clip(Related(d)), c.within...)
	}
	i, again := c.at[id]
	switch {
	case !again:
		c.at[id] = len(c.list)
		if inst != nil {
			c.more[len(c.list)] = &repeated{first: *inst, others: map[string]bool{}}
		}
		c.list = append(c.list, d)
	case inst == nil:
	case inst.key != c.more[i].first.key:
		c.more[i].others[inst.key] = true
	case d.Detail != c.list[i].Detail:
		c.more[i].values++
	}
}

// done returns everything found, sorted by place.
func (c *collector) done() Diagnostics {
	for i, r := range c.more {
		d := *c.list[i]
		switch {
		case r.values == 1:
			d.Detail += "\nThere is 1 more such value here."
		case r.values > 1:
			d.Detail += fmt.Sprintf("\nThere are %d more such values here.", r.values)
		}
		if r.first.keyed {
			d.Detail += brief(fmt.Sprintf("\nThis is so for each.key = %q", r.first.key))
			if len(r.others) > 0 {
				d.Detail += " and " + words.Count(len(r.others), "other instance")
			}
			d.Detail += "."
		}
		c.list[i] = &d
	}
	c.more = nil
	slices.SortStableFunc(c.list, func(a, b *hcl.Diagnostic) int { return bySource(*a.Subject, *b.Subject) })
	return Diagnostics{List: c.list, sources: c.sources}
}

// bySource compares places: by file, then from its top.
func bySource(a, b hcl.Range) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), a.Start.Byte-b.Start.Byte)
}

// Nearest returns the candidate that a mistyped name most likely meant, "" if
// none is close. Of equally near ones the first wins.
func Nearest(name string, candidates []string) string {
	best, dist := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(c), nil); d < dist && d < len(c) {
			best, dist = c, d
		}
	}
	return best
}

// suggest says which of the candidates was meant, or else lists them.
func suggest(name string, candidates []string, noun string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf("Did you mean %q?", n)
	}
	const most = 12
	switch {
	case len(candidates) == 0:
		return fmt.Sprintf("There are no %ss here.", noun)
	case len(candidates) > most:
		return fmt.Sprintf("There are %d %ss, such as %s.", len(candidates), noun, strings.Join(candidates[:most], ", "))
	}
	return fmt.Sprintf("The %ss are %s.", noun, strings.Join(candidates, ", "))
}

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
