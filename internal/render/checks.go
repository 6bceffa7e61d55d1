package render

import (
	"fmt"
	"strconv"
	"strings"
)

// Tally counts what comparisons with the paper came to.
type Tally struct {
	Cells  map[Verdict]int // of numbers, deviations and texts
	Claims map[Verdict]int
}

// Count is the tally of checks.
func Count(checks []Check) Tally {
	t := Tally{map[Verdict]int{}, map[Verdict]int{}}
	for _, c := range checks {
		if c.Form.Claim() {
			t.Claims[c.Verdict]++
		} else {
			t.Cells[c.Verdict]++
		}
	}
	return t
}

// total is how many there are.
func total(counts map[Verdict]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Sentence says how many cells match and how many claims hold: of NotComparable ones only
// that. what is the noun for a cell.
func (t Tally) Sentence(what string) string {
	var parts []string
	cells, claims := total(t.Cells), total(t.Claims)
	if cells > 0 {
		s := fmt.Sprintf("%d of %d %s match, %d differ, %d not run", t.Cells[Matches], cells-t.Cells[Shown], what, t.Cells[Differs], t.Cells[NotRun])
		if n := t.Cells[NotHere]; n > 0 {
			s += fmt.Sprintf(", %d %s", n, NotHere)
		}
		if n := t.Cells[Shown]; n > 0 {
			s += fmt.Sprintf(", %d shown", n)
		}
		parts = append(parts, s)
	}
	if claims > 0 {
		s := fmt.Sprintf("claims: %d hold, %d do not, %d not run", t.Claims[Holds], t.Claims[Broken], t.Claims[NotRun])
		if n := t.Claims[NotHere]; n > 0 {
			s += fmt.Sprintf(", %d %s", n, NotHere)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// Comparable reports whether the run has the paper's scale, as far as checks tell.
func (t Tally) Comparable() bool { return t.Cells[NotComparable]+t.Claims[NotComparable] == 0 }

// Worded reports whether the check is one of words: of a claim, or of a text.
func (c Check) Worded() bool { return c.Form.Claim() || c.Paper == nil || c.RebuiltText != "" }

// PaperSays is what the paper says, in words; the claim's own is Claim.
func (c Check) PaperSays() string {
	switch {
	case c.Form.Claim():
		return c.Asked
	case c.Paper != nil:
		return short(c.Paper)
	}
	return c.Text
}

// RebuiltSays is what was rebuilt of that, in words.
func (c Check) RebuiltSays() string {
	switch {
	case len(c.Cells) > 0:
		return c.numbers()
	case c.RebuiltText != "":
		return c.RebuiltText
	}
	return short(c.Rebuilt)
}

// numbers are a claim's cells with what was rebuilt of them, and what follows of these.
func (c Check) numbers() string {
	var parts []string
	for _, f := range c.Cells {
		parts = append(parts, f.Cell+" "+short(f.Rebuilt))
	}
	of := ""
	if c.Rebuilt != nil {
		of = short(c.Rebuilt) + " of "
	}
	return of + strings.Join(parts, ", ")
}

// short is a number to read.
func short(v *float64) string {
	if v == nil {
		return none
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// Said is what was asked and what was found, in a line.
func (c Check) Said() string {
	s := ""
	switch {
	case c.Form.Claim():
		s = fmt.Sprintf("%s: %s; rebuilt %s", c.Cell, c.Asked, c.RebuiltSays())
	case c.Worded() || c.Difference == nil:
		s = fmt.Sprintf("%s: paper %s, rebuilt %s", c.Cell, c.PaperSays(), c.RebuiltSays())
	default:
		s = fmt.Sprintf("%s: paper %v, rebuilt %.6g, difference %+.6g", c.Cell, *c.Paper, *c.Rebuilt, *c.Difference)
	}
	if c.Claim != "" {
		s += fmt.Sprintf("; “%s”", c.Claim)
	}
	return s
}

// Unmet are the checks of cells that differ and of claims that do not hold.
func Unmet(checks []Check) (out []Check) {
	for _, c := range checks {
		if c.Verdict == Differs || c.Verdict == Broken {
			out = append(out, c)
		}
	}
	return out
}
