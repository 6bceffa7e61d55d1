package render

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const atPoint = "decimal" // the Align of columns whose decimal points are one below the other

// siunitx are the settings with which a column S of siunitx 3 prints numbers as other columns do.
const siunitx = `\sisetup{mode=text,reset-text-series=false,text-series-to-math=true,retain-explicit-plus=true,group-minimum-digits=4,group-separator={,},table-align-text-after=false}` + "\n"

// split returns a cell's number with its sign, and the LaTeX behind it, if the cell can be aligned; siunitx groups the
// digits of all numbers of a column, or of none.
func (c Cell) split(column Format) (number, behind string, ok bool) {
	f := c.format(column)
	if c.Value == nil || f.Prefix != "" || f.Style == "text" {
		return "", "", false
	}
	number, isKilo := strings.CutSuffix(c.digits(f), kilo)
	if f.Std && c.Std != nil {
		behind = `\,$\pm$\,` + strings.TrimSuffix(f.std(*c.Std), kilo)
	}
	if isKilo {
		behind += `\,K`
	}
	return number, behind, f.Style == "integer" || column.Style != "integer" && !strings.Contains(number, ",")
}

// fill pads a column's cells to the width of the longest part from a decimal point on.
func (t *Table) fill(c Column) {
	longest, after := []rune{}, map[int][]rune{}
	for i, r := range t.Rows {
		if number, _, ok := r.Cells[c.ID].split(c.Format); ok {
			integer, _, _ := strings.Cut(number, ".")
			after[i] = []rune(strings.TrimPrefix(r.Cells[c.ID].Plain(c.Format), integer))
			if len(after[i]) > len(longest) {
				longest = after[i]
			}
		}
	}
	for i, s := range after {
		cell := t.Rows[i].Cells[c.ID]
		cell.fill = strings.Map(func(r rune) rune {
			if r == '.' {
				return '\u2008' // as wide as a point
			}
			return '\u2007' // as wide as a digit
		}, string(longest[len(s):]))
		t.Rows[i].Cells[c.ID] = cell
	}
}

// toRead writes a number as siunitx reads it.
var toRead = strings.NewReplacer("−", "-", ",", "")

// aligned returns a cell for a column S; a cell that siunitx cannot align stands in the middle.
func (c Cell) aligned(column Format) string {
	number, behind, ok := c.split(column)
	if !ok {
		return "{" + c.latex(column) + "}"
	}
	s := toRead.Replace(number)
	if c.Bold {
		s = `\bfseries ` + s
	}
	if c.Second {
		behind += `\llap{\underline{\phantom{` + latexText(number) + behind + `}}}`
	}
	if behind += c.superscript(); behind != "" {
		s += "{" + behind + "}"
	}
	return s
}

// alignedSpec returns the column S with room for its longest number and the text behind it.
func (t *Table) alignedSpec(c Column) string {
	group, sign, digits, decimals, longest, chars := "none", "", 1, 0, "", 0
	if c.Format.Style == "integer" {
		group = "integer"
	}
	for _, r := range t.Rows {
		cell := r.Cells[c.ID]
		number, behind, ok := cell.split(c.Format)
		if !ok {
			continue
		}
		before, after, _ := strings.Cut(toRead.Replace(number), ".")
		if unsigned := strings.TrimLeft(before, "-+"); unsigned != before {
			before, sign = unsigned, "-"
		}
		digits, decimals = max(digits, len(before)), max(decimals, len(after))
		if n := utf8.RuneCountInString(cell.Plain(c.Format)+cell.Marks) - utf8.RuneCountInString(number); n > chars {
			longest, chars = ",table-space-text-post={"+behind+cell.superscript()+"}", n
		}
	}
	return fmt.Sprintf("S[group-digits=%s,table-format=%s%d.%d%s]", group, sign, digits, decimals, longest)
}
