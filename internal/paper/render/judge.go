package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Verdict is the outcome of a comparison.
type Verdict string

// The verdicts. Cells of a run at a scale without expectations are NotComparable: a toy run is no reproduction.
const (
	Matches       Verdict = "match"
	IsNear        Verdict = "near" // almost matches or holds; see Expectation.near
	Differs       Verdict = "differs"
	Holds         Verdict = "holds"  // of claims
	Broken        Verdict = "broken" // of claims
	Shown         Verdict = "shown"  // shown and not compared
	NotRun        Verdict = "not run"
	NotComparable Verdict = "not comparable"
	NotHere       Verdict = AbsentText // the data lack what the cell asks for
)

// Check is an expectation compared with the cells that it is about.
type Check struct {
	Cell        string   `json:"cell"` // or the name of a claim
	Form        Form     `json:"form,omitempty"`
	Asked       string   `json:"asked,omitempty"` // of claims: what must hold, in words
	Paper       *float64 `json:"paper,omitempty"`
	Text        string   `json:"text,omitempty"`         // of the paper
	Rebuilt     *float64 `json:"rebuilt,omitempty"`      // scaled as printed, not rounded
	RebuiltText string   `json:"rebuilt_text,omitempty"` // as printed
	Difference  *float64 `json:"difference,omitempty"`
	Allowed     float64  `json:"allowed"`
	Cells       []Found  `json:"cells,omitempty"` // of claims: the cells that they are about
	Verdict     Verdict  `json:"verdict"`
	Source      string   `json:"source,omitempty"`
	Scale       string   `json:"scale,omitempty"`    // of the expectation, if it is not the paper's
	Severity    Severity `json:"severity,omitempty"` // "" is Error
}

// Fails reports whether redsi check fails by the check.
func (c Check) Fails() bool {
	return (c.Verdict == Differs || c.Verdict == Broken) && (c.Severity == "" || c.Severity == Error)
}

// Found is a cell's number.
type Found struct {
	Cell    string   `json:"cell"`
	Rebuilt *float64 `json:"rebuilt,omitempty"` // scaled as printed, not rounded
}

type judge struct {
	find       func(name string) (Cell, Format, error) // a cell by its name, and how its number is printed
	paper      string                                  // the default of a source
	scale      string                                  // of the run
	paperScale string
	comparable bool // the expectation is about the run's scale
}

// Expect compares the table with the paper; CELL.std is a cell's deviation. An unknown cell or form is an error.
func (t *Table) Expect(es ...Expectation) ([]Check, error) {
	return judge{paper: t.Paper, scale: t.Scale, paperScale: t.PaperScale, find: t.CellAt}.expect(es)
}

// CellAt finds a cell by its name, and how its number is printed.
func (t *Table) CellAt(name string) (Cell, Format, error) {
	col, cell, err := t.Find(name)
	if of, isStd := strings.CutSuffix(name, StdSuffix); isStd && err != nil {
		col, cell, err = t.Find(of)
		f := cell.format(col.Format)
		f.Style = f.unsigned()
		return Cell{Value: cell.Std, Absent: cell.Absent, Inputs: cell.Inputs, isPending: cell.Value != nil && cell.Std == nil}, f, err // for more seeds
	}
	return cell, cell.format(col.Format), err
}

// Across compares cells of several tables and figures, which find finds by ADDRESS:CELL, at the scale of a run.
func Across(find func(name string) (Cell, Format, error), scale, paperScale string, es ...Expectation) ([]Check, error) {
	return judge{scale: scale, paperScale: paperScale, find: find}.expect(es)
}

func (j judge) expect(es []Expectation) (all []Check, err error) {
	for _, e := range es {
		if !e.about(j.scale, j.paperScale) {
			continue
		}
		checks, err := j.compare(e)
		if err != nil {
			return nil, fmt.Errorf("expect %q: %w", e.Cell, err)
		}
		all = append(all, checks...)
	}
	return all, nil
}

// StdSuffix names the standard deviation of a cell in checks.
const StdSuffix = ".std"

// AtPaperScale reports whether numbers of a run of that scale may be compared with the paper's.
func AtPaperScale(scale, paper string) bool { return scale == "" || scale == paper }

// Planned returns an expectation's checks before a run at a scale; label is where the paper says so by default.
func (e Expectation) Planned(label, scale, paper string) []Check {
	j := judge{paper: label, scale: scale, paperScale: paper, find: Waiting}
	checks, _ := j.expect([]Expectation{e}) // loading the pipeline reports an error
	return checks
}

// Waiting finds every cell of a table or figure that has not run.
func Waiting(string) (Cell, Format, error) { return Cell{isPending: true}, Format{Style: "fixed"}, nil }

func (j judge) compare(e Expectation) ([]Check, error) {
	form, err := e.Form()
	if err != nil {
		return nil, err
	}
	e, j.comparable = e.at(j.scale, j.paperScale)
	c := Check{Cell: e.Cell, Form: form, Paper: e.Value, Text: e.Text, Source: cmp.Or(e.Source, j.paper), Verdict: NotRun, Severity: e.Severity}
	if !j.comparable {
		c.Verdict = NotComparable
	}
	if j.comparable && !AtPaperScale(j.scale, j.paperScale) {
		c.Scale = j.scale
	}
	if form.Claim() {
		err := j.claim(e, &c)
		return []Check{c}, err
	}
	cell, f, err := j.find(e.Cell)
	if err != nil {
		return nil, err
	}
	checks := []Check{j.cell(e, c, cell, f)}
	if e.Std != nil {
		checks = append(checks, j.std(e, c, cell, f))
	}
	return checks, nil
}

// begun is false for a check of a cell that has no value yet, or whose example is absent.
func (c *Check) begun(cell Cell) bool {
	if cell.Absent != "" {
		c.Verdict = NotHere
	}
	return cell.Absent == "" && !cell.isPending
}

// pass returns the verdict on what can be compared; near counts unless it is ok.
func (j judge) pass(c Check, ok, near bool) Verdict {
	switch {
	case !j.comparable:
		return NotComparable
	case c.Form == IsShown:
		return Shown
	case ok && c.Form.Claim():
		return Holds
	case ok:
		return Matches
	case near:
		return IsNear
	case c.Form.Claim():
		return Broken
	}
	return Differs
}

func (j judge) cell(e Expectation, c Check, cell Cell, f Format) Check {
	if c.Paper != nil {
		c.Allowed = math.Max(e.Tolerance, e.Relative*math.Abs(*c.Paper))
	}
	if !c.begun(cell) {
		return c
	}
	if c.Form == IsText || cell.Value == nil { // or the paper prints a number, and the cell a text or nothing
		c.RebuiltText = plainSpace(cell.Plain(f))
		c.Verdict = j.pass(c, c.Form == IsText && SameText(c.Text, c.RebuiltText), false)
		return c
	}
	n := cell.scaled(f)
	c.Rebuilt = &n.float
	if c.Paper == nil { // it has values for other scales only
		c.Verdict = NotComparable
		return c
	}
	d := n.minus(scaled{float: *c.Paper})
	if c.Form != IsShown {
		c.Difference = &d
	}
	if cell.Std != nil {
		c.Allowed = math.Max(c.Allowed, e.Stds*f.scaled(*cell.Std))
	}
	matches := c.Allowed + f.rounding()
	c.Verdict = j.pass(c, math.Abs(d) <= matches, math.Abs(d) <= e.near(matches, f.rounding()))
	return c
}

// std compares a cell's standard deviation, by its own factor. A deviation of 0 does not match a deviation of the paper.
func (j judge) std(e Expectation, c Check, cell Cell, f Format) Check {
	f.Style = f.unsigned()
	paper, factor := *e.Std, math.Max(e.StdFactor, 1)
	c = Check{Cell: c.Cell + StdSuffix, Form: IsStd, Paper: &paper, Allowed: paper * (factor - 1), Source: c.Source, Verdict: c.Verdict, Scale: c.Scale, Severity: c.Severity}
	switch {
	case !c.begun(cell) || cell.Std == nil && !cell.Missing(): // with one seed
		return c
	case cell.Std == nil:
		c.Verdict = j.pass(c, false, false)
		return c
	}
	v := f.scaled(*cell.Std)
	d := v - paper
	c.Rebuilt, c.Difference = &v, &d
	rounding := f.rounding()
	c.Verdict = j.pass(c, (v > 0 || paper == 0) && v <= factor*paper+rounding && v >= paper/factor-rounding, false)
	return c
}

// rounding returns half a unit of the last printed digit: the paper's own rounding.
func (f Format) rounding() float64 {
	if f.Style == "integer" {
		return 0
	}
	f.Scale = 0
	return f.Unit() / 2 * (1 + 1e-9)
}

// claim judges an expectation of several cells, or of the sign of one.
func (j judge) claim(e Expectation, c *Check) error {
	names := e.Lists()[c.Form]
	function, isDerived := derived[c.Form]
	if !isDerived && c.Form != InOrder {
		names = append([]string{e.Cell}, names...)
	}
	c.Asked = e.asked(c.Form, names)
	var ns []scaled
	var vs []float64
	rounding, fails := 0.0, false
	for i, name := range names {
		cell, f, err := j.find(name)
		if err != nil {
			return err
		}
		found := Found{Cell: name}
		if cell.Value != nil {
			n := cell.scaled(f)
			found.Rebuilt = &n.float
			ns, vs = append(ns, n), append(vs, n.float)
			if isDerived && n.exact != nil {
				return fmt.Errorf("%q is %s, more digits than %s is computed with: expect it as a text, or claim an order", name, cell.Typed, c.Form)
			}
		}
		switch {
		case cell.Absent != "":
			c.Verdict = NotHere
		case cell.Value == nil && !cell.isPending: // it has a text, or nothing
			fails = true
		}
		if i == 0 && c.Form != IsRatio {
			rounding = f.rounding()
		}
		c.Cells = append(c.Cells, found)
	}
	if isDerived && c.Paper == nil { // it has values for other scales only
		c.Verdict = NotComparable
		return nil
	}
	if isDerived {
		c.Allowed = math.Max(e.Tolerance, e.Relative*math.Abs(*c.Paper))
	}
	switch {
	case fails:
		c.Verdict = j.pass(*c, false, false)
		return nil
	case len(ns) < len(names):
		return nil
	case !isDerived:
		c.Verdict = j.pass(*c, e.ordered(c.Form, ns), false)
		return nil
	}
	v := function(vs)
	if math.IsNaN(v) || math.IsInf(v, 0) { // a quotient by 0
		c.Verdict = j.pass(*c, false, false)
		return nil
	}
	d := v - *c.Paper
	c.Rebuilt, c.Difference = &v, &d
	matches := c.Allowed*(1+1e-9) + rounding
	c.Verdict = j.pass(*c, math.Abs(d) <= matches, math.Abs(d) <= e.near(matches, rounding))
	return nil
}

func (e Expectation) ordered(form Form, vs []scaled) bool {
	apart := func(high, low scaled) bool { d := high.minus(low); return d > 0 && d >= e.Margin*(1-1e-9) }
	switch form {
	case HasSign:
		return e.Sign == "positive" && apart(vs[0], scaled{}) || e.Sign == "negative" && apart(scaled{}, vs[0])
	case IsAbove:
		return !slices.ContainsFunc(vs[1:], func(v scaled) bool { return !apart(vs[0], v) })
	case IsBelow:
		return !slices.ContainsFunc(vs[1:], func(v scaled) bool { return !apart(v, vs[0]) })
	}
	return !slices.ContainsFunc(lists.Places(len(vs)-1), func(i int) bool { return !apart(vs[i], vs[i+1]) })
}

func (e Expectation) asked(form Form, cells []string) string {
	s := ""
	switch form {
	case HasSign:
		s = cells[0] + " is " + e.Sign
	case IsAbove, IsBelow:
		s = cells[0] + " is " + string(form) + " " + strings.Join(cells[1:], ", ")
	case InOrder:
		s = strings.Join(cells, " > ")
	case IsMinus:
		s = cells[0] + " − " + cells[1]
	case IsRatio:
		s = cells[0] + " / " + cells[1]
	default:
		s = string(form) + " of " + strings.Join(cells, ", ")
	}
	if e.Value != nil {
		s += fmt.Sprintf(" is %v", *e.Value)
	}
	if e.Margin > 0 {
		s += fmt.Sprintf(" by at least %v", e.Margin)
	}
	return s
}

// Find returns the cell named ROW.COLUMN, and its column.
func (t *Table) Find(name string) (Column, Cell, error) {
	row, col, ok := strings.CutLast(name, ".")
	if !ok {
		return Column{}, Cell{}, fmt.Errorf("%q: a cell is ROW.COLUMN", name)
	}
	for _, c := range t.Columns {
		if c.ID != col {
			continue
		}
		for _, r := range t.Rows {
			if r.Titles != nil && r.ID == row {
				return c, r.Cells[col], nil
			}
		}
		return c, Cell{}, fmt.Errorf("%q: the table has no row %q", name, row)
	}
	return Column{}, Cell{}, fmt.Errorf("%q: the table has no column %q", name, col)
}
