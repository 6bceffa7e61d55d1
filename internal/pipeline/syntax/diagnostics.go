package syntax

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/system/lists"
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

func (ds Diagnostics) HasErrors() bool { return ds.List.HasErrors() }

func (ds Diagnostics) Count() (errors, warnings int) {
	errors = lists.Count(ds.List, func(d *hcl.Diagnostic) bool { return d.Severity == hcl.DiagError })
	return errors, len(ds.List) - errors
}

// Summary counts in words: "2 errors, 1 warning".
func (ds Diagnostics) Summary() string {
	n, m := ds.Count()
	errors, warnings := words.Of(n, "error", "errors"), words.Of(m, "warning", "warnings")
	return strings.Join(words.Counts(words.Number{N: n, Of: errors}, words.Number{N: m, Of: warnings}), ", ")
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
		e := entry{Severity: "warning", Summary: d.Summary, Detail: d.Detail,
			place: at(d.Subject.Filename, d.Subject.Start), End: at(d.Subject.Filename, d.Subject.End)}
		if d.Severity == hcl.DiagError {
			e.Severity = "error"
		}
		for _, r := range Related(d) {
			e.Related = append(e.Related, also{at(r.Range.Filename, r.Range.Start), r.Text})
		}
		list = append(list, e)
	}
	return json.Marshal(list)
}

// Collector gathers diagnostics. What says the same of the same place, as instances of a block do, becomes one.
type Collector struct {
	Sources map[string][]byte // what excerpts are taken from
	list    hcl.Diagnostics
	at      map[string]int // what makes a diagnostic the same as another -> index
	more    map[int]*repeated
	within  []Place // the modules that are being loaded, innermost first
}

// Instance says which of a block's instances a diagnostic is about.
type Instance struct {
	Key   string
	Keyed bool // the block has for_each
}

type repeated struct {
	first  Instance
	others map[string]bool // further instances, by key
	values int             // further values within the first instance
}

// NewCollector is a Collector whose excerpts are taken from sources.
func NewCollector(sources map[string][]byte) *Collector {
	c := &Collector{at: map[string]int{}, more: map[int]*repeated{}, Sources: map[string][]byte{}}
	maps.Copy(c.Sources, sources)
	return c
}

// Within says where what is found from now on is loaded from, until back is called.
func (c *Collector) Within(p Place) (back func()) {
	outside := c.within
	c.within = append([]Place{p}, outside...)
	return func() { c.within = outside }
}

func (c *Collector) Failed() bool { return c.list.HasErrors() }

// Error files an error, with further places to show.
func (c *Collector) Error(rng hcl.Range, summary, detail string, also ...Place) {
	c.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng, Extra: also}, nil, detail)
}

func (c *Collector) Warn(rng hcl.Range, summary, detail string) {
	c.Add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: &rng}, nil, detail)
}

// HCL adds the library's diagnostics; those without a place get rng.
func (c *Collector) HCL(ds hcl.Diagnostics, rng hcl.Range) {
	for _, d := range ds {
		if d.Summary == "Invalid template control keyword" || d.Summary == "Invalid template directive" {
			e := *d
			e.Detail += " For a program's own %{, such as curl's, write %%{."
			d = &e
		}
		c.AddHCL(d, rng, nil)
	}
}

// AddHCL adds one of the library's, which may say another thing in each instance.
func (c *Collector) AddHCL(d *hcl.Diagnostic, rng hcl.Range, of *Instance) {
	e := *d
	if e.Subject == nil {
		e.Subject = &rng
	}
	e.Extra = nil
	about := d.Detail
	if of != nil && of.Keyed {
		about = ""
	}
	c.Add(&e, of, about)
}

// Add files a diagnostic about something within one instance of a block; nil: about none in particular.
func (c *Collector) Add(d *hcl.Diagnostic, of *Instance, about string) {
	d.Detail = brief(d.Detail)
	id := fmt.Sprintf("%s:%d:%d %d %s\x00%s", d.Subject.Filename, d.Subject.Start.Byte, d.Subject.End.Byte, d.Severity, d.Summary, about)
	if len(c.within) > 0 {
		d.Extra = append(slices.Clip(Related(d)), c.within...)
	}
	i, filed := c.at[id]
	switch {
	case !filed:
		c.at[id] = len(c.list)
		if of != nil {
			c.more[len(c.list)] = &repeated{first: *of, others: map[string]bool{}}
		}
		c.list = append(c.list, d)
	case of == nil:
	case of.Key != c.more[i].first.Key:
		c.more[i].others[of.Key] = true
	case d.Detail != c.list[i].Detail:
		c.more[i].values++
	}
}

// Done returns everything found, sorted by place.
func (c *Collector) Done() Diagnostics {
	for i, r := range c.more {
		d := *c.list[i]
		if r.values == 1 {
			d.Detail += "\nThere is 1 more such value here."
		} else if r.values > 1 {
			d.Detail += fmt.Sprintf("\nThere are %d more such values here.", r.values)
		}
		if r.first.Keyed {
			d.Detail += brief(fmt.Sprintf("\nThis is so for each.key = %q", r.first.Key))
			if len(r.others) > 0 {
				d.Detail += " and " + words.Count(len(r.others), "other instance")
			}
			d.Detail += "."
		}
		c.list[i] = &d
	}
	c.more = nil
	slices.SortStableFunc(c.list, func(a, b *hcl.Diagnostic) int { return BySource(*a.Subject, *b.Subject) })
	return Diagnostics{List: c.list, sources: c.Sources}
}

// NewDiagnostics is a list of diagnostics about sources of whatever kind, by name.
func NewDiagnostics(list hcl.Diagnostics, sources map[string][]byte) Diagnostics {
	c := NewCollector(sources)
	c.HCL(list, hcl.Range{})
	return c.Done()
}
