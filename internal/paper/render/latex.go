package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
)

const tableNeeds = "%% It needs \\usepackage{amssymb,array,booktabs,multirow,tabularx,textcomp} and \\usepackage[T1]{fontenc}.\n"

// LaTeX writes the table as a float with booktabs rules, laid out as the paper
// lays its tables out; long texts are broken into lines where the table would be
// too wide. Its first line says what it needs.
func (t *Table) LaTeX(w io.Writer) error {
	env, width := "table", `\columnwidth`
	if t.Wide {
		env, width = "table*", `\textwidth`
	}
	var b strings.Builder
	name, arguments := t.tabular(width)
	size, gap := `\small`, ""
	switch {
	case name == "tabular*" && t.spare() < 0: // nothing can be broken into lines
		size, gap = `\footnotesize`, "2pt"
	case len(t.Columns)+len(t.Stubs) > 6 || name == "tabular*": // which stretches the gaps
		gap = "3pt"
	}
	fmt.Fprintf(&b, tableNeeds+"\\begin{%s}[t]\n\\centering\n%s\n", env, size)
	if gap != "" {
		fmt.Fprintf(&b, "\\setlength{\\tabcolsep}{%s}\n", gap)
	}
	fmt.Fprintf(&b, "\\begin{%s}%s\n\\toprule\n", name, arguments)
	if t.Headed() {
		t.latexHead(&b)
		b.WriteString("\\midrule\n")
	}
	t.latexRows(&b, width)
	fmt.Fprintf(&b, "\\bottomrule\n\\end{%s}\n", name)
	endFloat(&b, env, t.Caption, Labelled(t.Paper, "tab"))
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Column) align() string {
	switch {
	case c.Align != "":
		return c.Align
	case c.Format.Style == "text":
		return "l"
	}
	return "r"
}

// Span is a header over neighbouring columns.
type Span struct {
	Title       string
	first, last int // columns, from zero, stubs not counted
}

// Columns is how many columns the header is over.
func (s Span) Columns() int { return s.last - s.first + 1 }

// spans groups neighbouring columns that share the headers down to a level.
func (t *Table) spans(level int) []Span {
	var out []Span
	for i, c := range t.Columns {
		if i > 0 && slices.Equal(c.Groups[:level+1], t.Columns[i-1].Groups[:level+1]) {
			out[len(out)-1].last = i
			continue
		}
		out = append(out, Span{c.Groups[level], i, i})
	}
	return out
}

// Headed reports whether a column or stub has a header.
func (t *Table) Headed() bool {
	return slices.ContainsFunc(t.Stubs, func(s string) bool { return s != "" }) ||
		slices.ContainsFunc(t.Columns, func(c Column) bool {
			return c.Title != "" || slices.ContainsFunc(c.Groups, func(g string) bool { return g != "" })
		})
}

func (t *Table) latexHead(b *strings.Builder) {
	levels := 0
	if len(t.Columns) > 0 {
		levels = len(t.Columns[0].Groups)
	}
	for level := range levels {
		cells := make([]string, len(t.Stubs))
		var rules []string
		for _, s := range t.spans(level) {
			if s.Title == "" {
				cells = append(cells, strings.Repeat(" & ", s.last-s.first))
				continue
			}
			cells = append(cells, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, s.Columns(), TeX(s.Title)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, len(t.Stubs)+s.first+1, len(t.Stubs)+s.last+1))
		}
		fmt.Fprintf(b, "%s \\\\\n", noOption(strings.Join(cells, " & ")))
		for _, r := range rules {
			b.WriteString(r + "\n")
		}
	}
	cells := lists.Map(t.Stubs, TeX)
	for _, c := range t.Columns {
		cells = append(cells, TeX(c.Title))
	}
	fmt.Fprintf(b, "%s \\\\\n", noOption(strings.Join(cells, " & ")))
}

// noOption keeps a row from beginning with what \\ or a rule would take for its option.
func noOption(line string) string {
	if strings.HasPrefix(line, "[") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "(") {
		return "{}" + line
	}
	return line
}

func (t *Table) latexRows(b *strings.Builder, width string) {
	all := len(t.Stubs) + len(t.Columns)
	for i, r := range t.Rows {
		switch {
		case r.Rule:
			b.WriteString("\\midrule\n")
		case r.Space:
			b.WriteString("\\addlinespace[2pt]\n")
		case r.Center:
			fmt.Fprintf(b, "\\multicolumn{%d}{c}{%s} \\\\\n", all, TeX(r.Section))
		case r.Section != "":
			form := "@{}l"
			if utf8.RuneCountInString(Plain(r.Section)) > t.room()*2/3 {
				form = "@{}p{" + width + "}@{}"
			}
			fmt.Fprintf(b, "\\multicolumn{%d}{%s}{%s} \\\\\n\\addlinespace[2pt]\n", all, form, TeX(r.Section))
		case r.Under: // in the line of the row above
		default:
			cells := t.latexCells(i)
			for k := i + 1; k < len(t.Rows) && t.Rows[k].Under; k++ {
				for n, under := range t.latexCells(k) {
					if strings.TrimSpace(under) != "" {
						cells[n] += "\\newline\n  " + under
					}
				}
			}
			// A title that stands further up leaves no blank line, which TeX reads as \par.
			fmt.Fprintf(b, "%s \\\\\n", noOption(strings.TrimPrefix(strings.Join(cells, "\n& "), "\n")))
		}
	}
}

// latexCells are the titles and cells of a row.
func (t *Table) latexCells(row int) (cells []string) {
	for s, title := range t.Rows[row].Titles {
		cells = append(cells, t.latexTitle(row, s, title))
	}
	for _, c := range t.Columns {
		cells = append(cells, t.Rows[row].Cells[c.ID].latex(c.Format))
	}
	return cells
}

// latexTitle joins a title that is in neighbouring rows into one multirow,
// in all but the last stub column.
func (t *Table) latexTitle(row, stub int, title string) string {
	if stub == len(t.Stubs)-1 {
		return TeX(title)
	}
	if row > 0 && t.sameTitles(row-1, row, stub) {
		return ""
	}
	n := 1
	for row+n < len(t.Rows) && t.sameTitles(row, row+n, stub) {
		n++
	}
	if n == 1 {
		return TeX(title)
	}
	return fmt.Sprintf(`\multirow{%d}{*}{%s}`, n, TeX(title))
}

func (t *Table) sameTitles(a, b, stub int) bool {
	x, y := t.Rows[a].Titles, t.Rows[b].Titles
	return x != nil && y != nil && slices.Equal(x[:stub+1], y[:stub+1])
}
