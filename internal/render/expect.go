package render

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Expectation is a number that the paper prints, as it prints it: after scale
// and rounding.
type Expectation struct {
	Cell      string   // ROW.COLUMN by their ids
	Value     float64  // as printed
	Tolerance float64  // absolute
	Relative  float64  // fraction of Value
	Stds      float64  // multiples of the rebuilt standard deviation
	Source    string   // where the paper says so; default its label
	Std       *float64 // the standard deviation that is printed after ±, with the same Tolerance
}

// Verdict is what a comparison came to.
type Verdict string

// The verdicts. NotComparable is the verdict of every cell of a run at another
// scale: a toy run never looks like a reproduction.
const (
	Matches       Verdict = "match"
	Differs       Verdict = "differs"
	NotRun        Verdict = "not run"
	NotComparable Verdict = "not comparable"
	NotHere       Verdict = AbsentText // the data have not what the cell asks for
)

// Check is an expectation compared with a cell.
type Check struct {
	Cell       string   `json:"cell"`
	Paper      float64  `json:"paper"`
	Rebuilt    *float64 `json:"rebuilt,omitempty"` // scaled as printed, not rounded
	Difference *float64 `json:"difference,omitempty"`
	Allowed    float64  `json:"allowed"`
	Verdict    Verdict  `json:"verdict"`
	Source     string   `json:"source,omitempty"`
}

// Expect compares the table with the paper. An expectation for a cell that does
// not exist is an error.
func (t *Table) Expect(es []Expectation) error {
	for _, e := range es {
		col, cell, err := t.find(e.Cell)
		if err != nil {
			return fmt.Errorf("expect %w", err)
		}
		f := cell.format(col.Format)
		t.Checks = append(t.Checks, e.check(cell, f, t.Paper, AtPaperScale(t.Scale, t.PaperScale)))
		if e.Std != nil {
			f.Style = f.unsigned()
			std := Expectation{Cell: e.Cell + StdSuffix, Value: *e.Std, Tolerance: e.Tolerance, Source: e.Source}
			t.Checks = append(t.Checks, std.check(Cell{Value: cell.Std}, f, t.Paper, AtPaperScale(t.Scale, t.PaperScale)))
		}
	}
	return nil
}

// StdSuffix names the standard deviation of a cell in checks.
const StdSuffix = ".std"

// AtPaperScale reports whether numbers of a run of that scale may be compared with the
// paper's.
func AtPaperScale(scale, paper string) bool { return scale == "" || scale == paper }

// check compares the paper's number with a cell that is printed by f.
func (e Expectation) check(cell Cell, f Format, paper string, comparable bool) Check {
	c := Check{Cell: e.Cell, Paper: e.Value, Source: e.Source, Verdict: NotRun,
		Allowed: math.Max(e.Tolerance, e.Relative*math.Abs(e.Value))}
	if c.Source == "" {
		c.Source = paper
	}
	if cell.Absent != "" {
		c.Verdict = NotHere
	}
	if cell.Value == nil {
		return c
	}
	v := f.scaled(*cell.Value)
	d := v - e.Value
	c.Rebuilt, c.Difference = &v, &d
	if cell.Std != nil {
		c.Allowed = math.Max(c.Allowed, e.Stds*f.scaled(*cell.Std))
	}
	// Half a unit of the last printed digit is the paper's own rounding.
	rounding := 0.0
	switch f.Style {
	case "fixed", "signed":
		rounding = 0.5 * math.Pow(10, -float64(f.Decimals))
	case "kilo":
		rounding = 500 * math.Pow(10, -float64(f.Decimals))
	}
	switch {
	case !comparable:
		c.Verdict = NotComparable
	case math.Abs(d) <= c.Allowed+rounding*(1+1e-9):
		c.Verdict = Matches
	default:
		c.Verdict = Differs
	}
	return c
}

func (t *Table) find(name string) (Column, Cell, error) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return Column{}, Cell{}, fmt.Errorf("%q: a cell is ROW.COLUMN", name)
	}
	row, col := name[:i], name[i+1:]
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

// markdownAbsent says why cells have nothing, each reason once.
func (t *Table) markdownAbsent(b *strings.Builder) {
	var said []string
	for _, r := range t.Rows {
		for _, c := range t.Columns {
			if why := r.Cells[c.ID].Absent; why != "" && !slices.Contains(said, why) {
				said = append(said, why)
			}
		}
	}
	for i, why := range said {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "- %s: %s\n", AbsentText, markdown(why))
	}
}

// word is a label in Markdown: as it is, or if it is none, as any text.
func word(s string) string {
	if CheckLabel(s) == nil {
		return s
	}
	return markdownText(s)
}

// markdownChecks writes what the comparison came to: a count, and each cell
// that does not match.
func (t *Table) markdownChecks(b *strings.Builder) {
	if len(t.Checks) == 0 {
		return
	}
	counts := map[Verdict]int{}
	for _, c := range t.Checks {
		counts[c.Verdict]++
	}
	fmt.Fprintf(b, "\nAgainst the paper (%s): ", word(t.Paper))
	if n := counts[NotComparable]; n > 0 {
		fmt.Fprintf(b, "not comparable, this run has scale \"%s\".\n", word(t.Scale))
		return
	}
	fmt.Fprintf(b, "%d of %d cells match, %d differ, %d not run", counts[Matches], len(t.Checks), counts[Differs], counts[NotRun])
	if n := counts[NotHere]; n > 0 {
		fmt.Fprintf(b, ", %d %s", n, NotHere)
	}
	b.WriteString(".\n")
	for _, c := range t.Checks {
		if c.Verdict == Differs {
			fmt.Fprintf(b, "- %s: paper %v, rebuilt %.6g, difference %+.6g\n", markdown(c.Cell), c.Paper, *c.Rebuilt, *c.Difference)
		}
	}
}
