package render

import (
	"fmt"
	"io"
	"strings"
)

// LaTeX writes the table as a float with booktabs rules, laid out as the paper
// lays its tables out; long texts are broken into lines where the table would be
// too wide. It needs packages array, booktabs, multirow, tabularx, amssymb and
// textcomp.
func (t *Table) LaTeX(w io.Writer) error {
	env, width := "table", `\columnwidth`
	if t.Wide {
		env, width = "table*", `\textwidth`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\\begin{%s}[t]\n\\centering\n\\small\n", env)
	if len(t.Columns)+len(t.Stubs) > 6 {
		b.WriteString("\\setlength{\\tabcolsep}{3pt}\n")
	}
	name, arguments := t.tabular(width)
	fmt.Fprintf(&b, "\\begin{%s}%s\n\\toprule\n", name, arguments)
	t.latexHead(&b)
	b.WriteString("\\midrule\n")
	t.latexRows(&b)
	fmt.Fprintf(&b, "\\bottomrule\n\\end{%s}\n", name)
	if t.Caption != "" {
		fmt.Fprintf(&b, "\\caption{%s}\n", latex(t.Caption))
	}
	if strings.HasPrefix(t.Paper, "tab:") {
		fmt.Fprintf(&b, "\\label{%s}\n", t.Paper)
	}
	fmt.Fprintf(&b, "\\end{%s}\n", env)
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

// headSpan is a header over neighbouring columns.
type headSpan struct {
	title       string
	first, last int // columns, from zero, stubs not counted
}

// spans groups neighbouring columns that share the headers down to a level.
func (t *Table) spans(level int) []headSpan {
	var out []headSpan
	for i, c := range t.Columns {
		if i > 0 && samePrefix(c.Groups, t.Columns[i-1].Groups, level+1) {
			out[len(out)-1].last = i
			continue
		}
		out = append(out, headSpan{c.Groups[level], i, i})
	}
	return out
}

func samePrefix(a, b []string, n int) bool {
	for i := range n {
		if a[i] != b[i] {
			return false
		}
	}
	return true
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
			if s.title == "" {
				cells = append(cells, strings.Repeat(" & ", s.last-s.first))
				continue
			}
			cells = append(cells, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, s.last-s.first+1, latex(s.title)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, len(t.Stubs)+s.first+1, len(t.Stubs)+s.last+1))
		}
		fmt.Fprintf(b, "%s \\\\\n", strings.Join(cells, " & "))
		for _, r := range rules {
			b.WriteString(r + "\n")
		}
	}
	var cells []string
	for _, s := range t.Stubs {
		cells = append(cells, latex(s))
	}
	for _, c := range t.Columns {
		cells = append(cells, latex(c.Title))
	}
	fmt.Fprintf(b, "%s \\\\\n", strings.Join(cells, " & "))
}

func (t *Table) latexRows(b *strings.Builder) {
	all := len(t.Stubs) + len(t.Columns)
	for i, r := range t.Rows {
		switch {
		case r.Rule:
			b.WriteString("\\midrule\n")
		case r.Space:
			b.WriteString("\\addlinespace[2pt]\n")
		case r.Center:
			fmt.Fprintf(b, "\\multicolumn{%d}{c}{%s} \\\\\n", all, latex(r.Section))
		case r.Section != "":
			fmt.Fprintf(b, "\\multicolumn{%d}{@{}l}{%s} \\\\\n\\addlinespace[2pt]\n", all, latex(r.Section))
		default:
			var cells []string
			for s, title := range r.Titles {
				cells = append(cells, t.latexTitle(i, s, title))
			}
			for _, c := range t.Columns {
				cells = append(cells, r.Cells[c.ID].latex(c.Format))
			}
			// A title that stands further up leaves no blank line, which TeX reads as \par.
			fmt.Fprintf(b, "%s \\\\\n", strings.TrimPrefix(strings.Join(cells, "\n& "), "\n"))
		}
	}
}

// latexTitle joins a title that stands in neighbouring rows into one multirow,
// in all but the last stub column.
func (t *Table) latexTitle(row, stub int, title string) string {
	if stub == len(t.Stubs)-1 {
		return latex(title)
	}
	if row > 0 && t.sameTitles(row-1, row, stub) {
		return ""
	}
	n := 1
	for row+n < len(t.Rows) && t.sameTitles(row, row+n, stub) {
		n++
	}
	if n == 1 {
		return latex(title)
	}
	return fmt.Sprintf(`\multirow{%d}{*}{%s}`, n, latex(title))
}

func (t *Table) sameTitles(a, b, stub int) bool {
	x, y := t.Rows[a].Titles, t.Rows[b].Titles
	return x != nil && y != nil && samePrefix(x, y, stub+1)
}
