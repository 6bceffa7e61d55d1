package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Tally counts the verdicts of comparisons.
type Tally struct {
	Cells  map[Verdict]int // on numbers, deviations and texts
	Claims map[Verdict]int // each claim once
}

// Count returns the tally of checks of cells.
func Count(checks []Check) Tally {
	t := Tally{map[Verdict]int{}, map[Verdict]int{}}
	for _, c := range checks {
		t.Cells[c.Verdict]++
	}
	return t
}

func total(counts map[Verdict]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Sentence says how many cells match and how many claims hold. what is the noun for a cell.
func (t Tally) Sentence(what string) string {
	var parts []string
	rest := func(s string, of map[Verdict]int) {
		for _, v := range []Verdict{NotHere, Shown, NotComparable} {
			if n := of[v]; n > 0 {
				s += fmt.Sprintf(", %d %s", n, v)
			}
		}
		parts = append(parts, s)
	}
	near := func(of map[Verdict]int) string {
		if n := of[IsNear]; n > 0 {
			return fmt.Sprintf(" %d near,", n)
		}
		return ""
	}
	if cells := total(t.Cells); cells > 0 {
		rest(fmt.Sprintf("%d of %d %s match,%s %d differ, %d not run", t.Cells[Matches], cells-t.Cells[Shown]-t.Cells[NotComparable], what, near(t.Cells), t.Cells[Differs], t.Cells[NotRun]), t.Cells)
	}
	if total(t.Claims) > 0 {
		rest(fmt.Sprintf("claims: %d hold,%s %d do not, %d not run", t.Claims[Holds], near(t.Claims), t.Claims[Broken], t.Claims[NotRun]), t.Claims)
	}
	return strings.Join(parts, "; ")
}

// Comparable reports whether anything was or could be compared; at another scale, whether something is expected there.
func (t Tally) Comparable() bool {
	return t.Cells[NotComparable]+t.Claims[NotComparable] < total(t.Cells)+total(t.Claims) || total(t.Cells)+total(t.Claims) == 0
}

// Worded reports whether the check is about words: of a claim, or of a text.
func (c Check) Worded() bool { return c.Form.Claim() || c.Paper == nil || c.RebuiltText != "" }

// PaperSays returns the paper's number or text, or what is expected at another scale, in words.
func (c Check) PaperSays() string {
	switch {
	case c.Form.Claim():
		return c.Asked
	case c.Paper != nil:
		return short(c.Paper)
	}
	return c.Text
}

// Whose names the origin of an expectation: the paper, or a scale.
func (c Check) Whose() string {
	if c.Scale != "" {
		return "at " + c.Scale
	}
	return "paper"
}

// RebuiltSays returns the rebuilt number or text, in words.
func (c Check) RebuiltSays() string {
	switch {
	case len(c.Cells) > 0:
		return c.numbers()
	case c.RebuiltText != "":
		return c.RebuiltText
	}
	return short(c.Rebuilt)
}

// numbers returns a claim's cells with their rebuilt numbers, and the number that follows from them.
func (c Check) numbers() string {
	parts := lists.Map(c.Cells, func(f Found) string { return f.Cell + " " + short(f.Rebuilt) })
	of := ""
	if c.Rebuilt != nil {
		of = short(c.Rebuilt) + " of "
	}
	return of + strings.Join(parts, ", ")
}

func short(v *float64) string {
	if v == nil {
		return none
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// Said returns what was asked and what was found, in a line.
func (c Check) Said() string {
	switch {
	case c.Form.Claim():
		s := fmt.Sprintf("%s; rebuilt %s", c.Asked, c.RebuiltSays())
		if c.Cell != "" && !strings.HasPrefix(c.Asked, c.Cell) {
			s = c.Cell + ": " + s
		}
		return s
	case c.Worded() || c.Difference == nil:
		return fmt.Sprintf("%s: %s %s, rebuilt %s", c.Cell, c.Whose(), c.PaperSays(), c.RebuiltSays())
	}
	return fmt.Sprintf("%s: %s %v, rebuilt %.6g, difference %+.6g", c.Cell, c.Whose(), *c.Paper, *c.Rebuilt, *c.Difference)
}
