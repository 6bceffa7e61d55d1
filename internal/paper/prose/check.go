package prose

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/values"
)

// Finding is a number in a paper that matches a cell.
type Finding struct {
	Place      Place       `json:"place"`
	Text       string      `json:"text"`   // as typed
	Scope      Scope       `json:"scope"`  // where cells were searched
	Chance     float64     `json:"chance"` // of a coincidence, among the searched cells
	Candidates []Candidate `json:"candidates"`
	Now        string      `json:"now,omitempty"` // if stale: the first candidate as it prints now
}

// Candidate is a cell that a number may be.
type Candidate struct {
	Cell    string `json:"cell"` // ADDRESS:CELL
	Prints  string `json:"prints"`
	Words   string `json:"words,omitempty"` // row and column
	Rounded bool   `json:"rounded,omitempty"`
	Write   string `json:"write"` // \redsi{…}
}

// Use is a \redsi{…} of a paper.
type Use struct {
	Place Place  `json:"place"`
	Name  string `json:"name"`           // as typed
	Near  string `json:"near,omitempty"` // if unknown: the nearest cell
	Was   string `json:"was,omitempty"`  // if changed: as it printed before
	Now   string `json:"now,omitempty"`
}

// Absent is a table or figure that the paper does not include.
type Absent struct {
	Address string `json:"address"`
	Label   string `json:"label,omitempty"`
}

// Result is the result of checking a paper.
type Result struct {
	Files   []string     `json:"files"`
	Missing []Missed     `json:"missing"` // files that the paper reads but that do not exist
	Cells   int          `json:"cells"`   // of the pipeline
	Numbers int          `json:"numbers"` // typed by hand
	Typed   []Finding    `json:"typed"`   // typed numbers that match a cell
	Tables  []TypedTable `json:"tables"`  // of the pipeline, typed by hand
	Vague   int          `json:"vague"`   // typed numbers that match a cell but say too little: 2, 40
	Uses    int          `json:"uses"`    // \redsi{…}
	Unknown []Use        `json:"unknown"`
	Waiting []Use        `json:"waiting"` // \redsi{…} of tables that have not run
	NotRun  []string     `json:"not_run"` // tables and figures
	Stale   []Finding    `json:"stale"`   // typed numbers that matched a cell before
	Changed []Use        `json:"changed"` // \redsi{…} whose cell has changed
	Absent  []Absent     `json:"absent"`

	Pictures   int        `json:"pictures,omitempty"`    // \includegraphics{…}
	NoPicture  []Included `json:"no_picture,omitempty"`  // pictures that do not exist
	OldPicture []Included `json:"old_picture,omitempty"` // pictures that their figures no longer have
}

// Failed reports whether the paper disagrees with the results.
func (r *Result) Failed() bool {
	return len(r.Unknown)+len(r.Stale)+len(r.NoPicture)+len(r.OldPicture) > 0
}

const mostCandidates = 3

// Check compares a paper with the cells, and with earlier cells unless before is nil.
func Check(p *Paper, now, before *Numbers) *Result {
	r := &Result{Files: p.Files, Missing: append([]Missed{}, p.Missing...), Typed: []Finding{}, Tables: []TypedTable{}, Unknown: []Use{}, Waiting: []Use{}, NotRun: append([]string{}, now.NotRun...), Stale: []Finding{}, Changed: []Use{}, Absent: []Absent{}}
	var was *index
	if before != nil {
		was = newIndex(before)
	}
	x := newIndex(now)
	r.Cells = len(x.entries)
	r.numbers(p, x, was)
	r.uses(p, x, was)
	r.absent(p, now)
	r.pictures(p, now)
	return r
}

func (r *Result) numbers(p *Paper, x, was *index) {
	var of []string // words of the scores below
	var scores, scoresWas map[int32]float64
	for _, t := range p.numbers() {
		r.Numbers++
		if scores == nil || !slices.Equal(of, t.words) {
			of, scores = t.words, x.scores(t.words)
			if was != nil {
				scoresWas = was.scores(t.words)
			}
		}
		m, any := x.find(t, scores)
		r.inTable(p, x, t, m)
		if was != nil {
			if f, ok := stale(p, t, x, was, m, scoresWas); ok {
				r.Stale = append(r.Stale, f)
				continue
			}
		}
		switch {
		case len(m.hits) > 0:
			r.Typed = append(r.Typed, x.finding(p, t, m))
		case any:
			r.Vague++
		}
	}
}

// stale finds the changed cell that a number matched before, unless a cell that it matches now fits as well.
func stale(p *Paper, t typed, x, was *index, now match, scores map[int32]float64) (Finding, bool) {
	m, _ := was.find(t, scores)
	if len(m.hits) == 0 || len(now.hits) > 0 && now.hits[0].score >= m.hits[0].score {
		return Finding{}, false
	}
	old := &was.entries[m.hits[0].id]
	f := was.finding(p, t, m)
	f.Now = x.now(old)
	return f, f.Now != Plain(old.cell.TeX)
}

// inTable counts a number in a float with a table's label.
func (r *Result) inTable(p *Paper, x *index, t typed, m match) {
	for _, label := range t.label {
		if len(x.labels[label]) == 0 {
			continue
		}
		address := x.entries[x.labels[label][0]].table.Address
		k := slices.IndexFunc(r.Tables, func(t TypedTable) bool { return t.Address == address })
		if k < 0 {
			k = len(r.Tables)
			r.Tables = append(r.Tables, TypedTable{Place: p.place(p.spots[t.at]), Address: address, File: texFile(address)})
		}
		r.Tables[k].Numbers++
		if m.scope == InFloat {
			r.Tables[k].Cells++
		}
		return
	}
}

func (x *index) now(old *entry) string {
	if id, ok := x.names[old.table.Address+":"+old.cell.Name]; ok {
		return Plain(x.entries[id].cell.TeX)
	}
	return "no cell any more"
}

func (x *index) finding(p *Paper, t typed, m match) Finding {
	f := Finding{Place: p.place(p.spots[t.at]), Text: strings.ReplaceAll(t.Text, string(thin), " "), Scope: m.scope, Chance: m.chance}
	for _, h := range m.hits[:min(len(m.hits), mostCandidates)] {
		e := &x.entries[h.id]
		f.Candidates = append(f.Candidates, Candidate{Cell: e.table.Address + ":" + e.cell.Name, Prints: Plain(e.cell.TeX),
			Words: e.cell.Words, Rounded: h.how == rounded, Write: write(t.Number, e)})
	}
	return f
}

// write returns the command that prints a cell in the form of a typed number; a percent sign stays where it is.
func write(n Number, e *entry) string {
	var options []string
	v := math.Abs(e.value)
	switch {
	case n.Unit == e.printed.Unit || !same(math.Abs(n.Value), values.Round(v/multiple(n.Unit), n.Decimals), n.Decimals):
	case n.Unit == 'K':
		options = append(options, "style=kilo")
	default: // the letter stays where it is, as a percent sign does
		options = append(options, "style=fixed", "factor="+strconv.FormatFloat(1/multiple(n.Unit), 'g', -1, 64))
	}
	fraction := n.Percent && !same(math.Abs(n.Value), values.Round(v, n.Decimals), n.Decimals)
	if fraction {
		options = append(options, "factor=100")
	}
	if len(options) > 0 || n.Decimals != e.printed.Decimals || fraction {
		options = append(options, "decimals="+strconv.Itoa(n.Decimals))
	}
	if e.value < 0 && !n.Signed {
		options = append(options, "abs")
	}
	if n.Signed && n.Value > 0 && !e.printed.Signed {
		options = append(options, "sign")
	}
	switch {
	case n.Std == "" && e.cell.ShowsStd:
		options = append(options, "std=none")
	case n.Std != "" && !e.cell.ShowsStd:
		options = append(options, "std")
	}
	o := ""
	if len(options) > 0 {
		o = "[" + strings.Join(options, ",") + "]"
	}
	return `\redsi` + o + "{" + texName(bare(e.table.Address)+":"+e.cell.Name) + "}"
}

// bare returns an address in the form that \redsi takes.
func bare(address string) string { return strings.TrimPrefix(address, "table.") }

func (r *Result) uses(p *Paper, x, was *index) {
	for _, m := range p.marks {
		if m.kind != useMark {
			continue
		}
		r.Uses++
		name := plainName(oneLine(m.text))
		u := Use{Place: p.place(m.spot), Name: name}
		id, ok := x.named(name)
		switch {
		case !ok && r.isPending(name):
			r.Waiting = append(r.Waiting, u)
		case !ok:
			u.Near = x.nearest(name)
			r.Unknown = append(r.Unknown, u)
		case was != nil:
			if before, ok := was.named(name); ok {
				u.Was, u.Now = Plain(was.entries[before].cell.TeX), Plain(x.entries[id].cell.TeX)
				if u.Was != u.Now {
					r.Changed = append(r.Changed, u)
				}
			}
		}
	}
}

// isPending reports whether a name is a cell of a table or figure that has not run.
func (r *Result) isPending(name string) bool {
	item, _, _ := address.Cell(name)
	return slices.ContainsFunc([]string{"", "table.", "figure."}, func(prefix string) bool { return slices.Contains(r.NotRun, prefix+item) })
}

// named finds a cell by the name that \redsi takes.
func (x *index) named(name string) (int, bool) {
	for _, prefix := range []string{"", "table.", "figure."} {
		if id, ok := x.names[prefix+name]; ok {
			return id, true
		}
	}
	return 0, false
}

// nearest returns the cell that a mistyped name most likely means, of the nearest table.
func (x *index) nearest(name string) string {
	item, cell, _ := address.Cell(name)
	item = bare(item)
	best, distance := "", math.MaxInt
	for i := range x.entries {
		t := x.entries[i].table.Address
		if i > 0 && x.entries[i-1].table == x.entries[i].table {
			continue
		}
		for _, a := range []string{bare(t), strings.TrimPrefix(t, "figure.")} {
			if d := levenshtein.Distance(clip(item), clip(a), nil); d < distance {
				best, distance = t, d
			}
		}
	}
	near, least := "", math.MaxInt
	for i := range x.entries {
		if x.entries[i].table.Address != best {
			continue
		}
		if d := levenshtein.Distance(clip(cell), clip(x.entries[i].cell.Name), nil); d < least {
			near, least = bare(best)+":"+x.entries[i].cell.Name, d
		}
	}
	if distance+least > max(2, len(clip(name))/2) {
		return ""
	}
	return near
}

func clip(s string) string { return s[:min(len(s), 200)] }

// absent lists the tables and figures that the paper neither includes nor labels.
func (r *Result) absent(p *Paper, now *Numbers) {
	here := map[string]bool{}
	for _, m := range p.marks {
		switch m.kind {
		case labelMark:
			here[m.text] = true
		case inputMark:
			base := path.Base(strings.TrimSpace(m.text))
			here["/"+strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(base, ".tex"), ".pdf"), ".png")] = true
		}
	}
	for _, t := range now.Tables {
		if t.Label != "" && here[t.Label] || here["/"+FileName(t.Address)] {
			continue
		}
		r.Absent = append(r.Absent, Absent{t.Address, t.Label})
	}
}

const mostName = 100 // bounds a file's name, far below the limits of file systems

// FileName returns the file name, without extension, of a table or figure in a folder written by redsi report --latex:
// the characters that LaTeX can read of its name, which may contain an instance's key.
func FileName(address string) string {
	name := strings.Trim(Slug(strings.TrimPrefix(strings.TrimPrefix(address, "table."), "figure.")), "-")
	return name[:min(len(name), mostName)]
}

// Slug returns a text with - in place of all characters except letters, digits and _.
func Slug(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '-'
	}, s)
}

// Plain returns the LaTeX of a cell for people.
func Plain(tex string) string {
	text, err := shown(tex)
	if err != nil {
		return tex
	}
	return oneLine(strings.ReplaceAll(text, string(thin), " "))
}
