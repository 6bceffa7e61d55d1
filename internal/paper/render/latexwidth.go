package render

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Characters that fit side by side at \small with columns' gaps, over one and over both columns of a page.
const (
	narrowChars = 56
	wideChars   = 115
	columnGap   = 2
	longChars   = 18 // longer texts may be broken into lines
)

func (t *Table) room() int {
	if t.Wide {
		return wideChars
	}
	return narrowChars
}

// widths returns the widths of all stubs and columns, in characters.
func (t *Table) widths() []int {
	stubs := len(t.Stubs)
	out := make([]int, stubs+len(t.Columns))
	widen := func(i int, s string) { out[i] = max(out[i], utf8.RuneCountInString(s)) }
	for i, s := range t.Stubs {
		widen(i, Plain(s))
	}
	for k, c := range t.Columns {
		widen(stubs+k, Plain(c.Title))
	}
	for _, r := range t.Rows {
		for i, title := range r.Titles {
			widen(i, Plain(title))
		}
		for k, c := range t.Columns {
			if cell, ok := r.Cells[c.ID]; ok {
				widen(stubs+k, cell.Plain(c.Format)+cell.Marks)
			}
		}
	}
	for _, spans := range t.HeadRows() {
		for _, s := range spans { // a wider header widens its last column, as TeX does
			below := -columnGap
			for i := s.first; i <= s.last; i++ {
				below += out[stubs+i] + columnGap
			}
			out[stubs+s.last] += max(0, utf8.RuneCountInString(Plain(s.Title))-below)
		}
	}
	return out
}

// flexible says which stubs and columns are broken into lines: columns with long text, where the table would be too wide
// for the page, and all text columns where some texts stand under others, which takes columns of a width.
func (t *Table) flexible() []bool {
	widths, tooWide := t.widths(), t.spare() < 0
	stacked := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Under })
	flexible := make([]bool, len(widths))
	for i, n := range widths {
		flexible[i] = (tooWide && n > longChars || stacked) && (i < len(t.Stubs) || t.Columns[i-len(t.Stubs)].align() == "l")
	}
	return flexible
}

func (t *Table) spare() int {
	spare := t.room()
	for _, n := range t.widths() {
		spare -= n + columnGap
	}
	return spare
}

// tabular returns the environment of the rows, with the arguments of its \begin, and whether texts are broken into lines.
func (t *Table) tabular(width string) (name, arguments string, broken bool) {
	flexible, widths, texts := t.flexible(), t.widths(), 0
	for i, is := range flexible {
		if is {
			texts += widths[i]
		}
	}
	spec := ""
	for i, is := range flexible {
		switch {
		case is && t.Long: // its share of the room that the other columns leave
			share := float64(max(0, t.spare()+texts)) / float64(t.room()) * float64(widths[i]) / float64(max(1, texts))
			spec += fmt.Sprintf(`>{\raggedright\arraybackslash}p{%.2f%s}`, max(0.1, share), width)
		case is:
			spec += `>{\raggedright\arraybackslash}X`
		case i < len(t.Stubs):
			spec += "l"
		case t.Columns[i-len(t.Stubs)].Align == atPoint:
			spec += t.alignedSpec(t.Columns[i-len(t.Stubs)])
		default:
			spec += t.Columns[i-len(t.Stubs)].align()
		}
	}
	switch broken = slices.Contains(flexible, true); {
	case t.Long:
		return "longtable", `{@{\extracolsep{\fill}}` + spec + "@{}}", broken
	case broken:
		return "tabularx", "{" + width + "}{@{}" + spec + "@{}}", true
	}
	return "tabular*", "{" + width + `}{@{\extracolsep{\fill}}` + spec + "@{}}", false
}
