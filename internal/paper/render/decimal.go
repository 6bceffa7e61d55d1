package render

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// atPoint is the Align of columns whose numbers have their decimal points one below the other.
const atPoint = "decimal"

// siunitx are the settings with which a column S of siunitx 3 prints numbers as other columns do.
const siunitx = `\sisetup{mode=text,reset-text-series=false,text-series-to-math=true,retain-explicit-plus=true,group-minimum-digits=4,group-separator={,},table-align-text-after=false}` + "\n"

// split is a number with its sign, and in LaTeX what stands behind it, of a cell that can be
// aligned; siunitx groups digits of all numbers of a column, or of none.
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
	if c.Second {
		behind += `\llap{\underline{\phantom{` + latexText(number) + behind + `}}}`
	}
	if c.Marks != "" {
		behind += `\textsuperscript{` + latexText(c.Marks) + `}`
	}
	return number, behind, f.Style == "integer" || column.Style != "integer" && !strings.Contains(number, ",")
}

// fromPoint is what is printed of a number from its decimal point on.
func (c Cell) fromPoint(column Format) (string, bool) {
	number, _, ok := c.split(column)
	whole, _, _ := strings.Cut(number, ".")
	return strings.TrimPrefix(c.Plain(column), whole), ok
}

// behind is the longest text from the decimal point on; "" of a column that is not aligned there.
func (t *Table) behind(c Column) (longest string) {
	for _, r := range t.Rows {
		if s, ok := r.Cells[c.ID].fromPoint(c.Format); ok && c.Align == atPoint && utf8.RuneCountInString(s) > utf8.RuneCountInString(longest) {
			longest = s
		}
	}
	return longest
}

// fill is room as wide as what other numbers of the column have more behind the point.
func (c Cell) fill(column Format) string {
	s, ok := c.fromPoint(column)
	if !ok || column.behind == "" {
		return ""
	}
	more := []rune(column.behind)[min(utf8.RuneCountInString(s), utf8.RuneCountInString(column.behind)):]
	return strings.Map(func(r rune) rune {
		if r == '.' {
			return '\u2008' // as wide as a point
		}
		return '\u2007' // as wide as a digit
	}, string(more))
}

// toRead is a number as siunitx reads it.
var toRead = strings.NewReplacer("−", "-", ",", "")

// aligned is a cell for a column S; what is no number that siunitx could align stands in the middle.
func (c Cell) aligned(column Format) string {
	number, behind, ok := c.split(column)
	if !ok {
		return "{" + c.latex(column) + "}"
	}
	s := toRead.Replace(number)
	if c.Bold {
		s = `\bfseries ` + s
	}
	if behind != "" {
		s += "{" + behind + "}"
	}
	return s
}

// alignedSpec is the column S with room for its longest number and text behind one.
func (t *Table) alignedSpec(c Column) string {
	group, sign, whole, decimals, longest, chars := "none", "", 1, 0, "", 0
	if c.Format.Style == "integer" {
		group = "integer"
	}
	for _, r := range t.Rows {
		cell := r.Cells[c.ID]
		cell.Second = false // a line takes no room
		number, behind, ok := cell.split(c.Format)
		if !ok {
			continue
		}
		before, after, _ := strings.Cut(toRead.Replace(number), ".")
		if digits := strings.TrimLeft(before, "-+"); digits != before {
			before, sign = digits, "-"
		}
		whole, decimals = max(whole, len(before)), max(decimals, len(after))
		if n := utf8.RuneCountInString(cell.Plain(c.Format)+cell.Marks) - utf8.RuneCountInString(number); n > chars {
			longest, chars = ",table-space-text-post={"+behind+"}", n
		}
	}
	return fmt.Sprintf("S[group-digits=%s,table-format=%s%d.%d%s]", group, sign, whole, decimals, longest)
}
