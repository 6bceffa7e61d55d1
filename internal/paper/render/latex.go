package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// comment says what a table needs, and in a line of its own that it is incomplete.
func (t *Table) comment() string {
	s := "% It needs \\usepackage{amssymb,array,booktabs,multirow,tabularx,textcomp"
	if t.Long {
		s += ",longtable"
	}
	if t.Decimal() {
		s += ",siunitx"
	}
	s += "} and \\usepackage[T1]{fontenc}.\n"
	if t.Lacks > 0 {
		s += "% Incomplete: " + words.Count(t.Lacks, "step") + " failed and left out.\n"
	}
	return s
}

// Decimal reports whether LaTeX needs siunitx, version 3, for columns that it aligns at the decimal point.
func (t *Table) Decimal() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Align == atPoint })
}

// LaTeX writes the table as a float with booktabs rules, laid out as the paper lays its tables out, or over several pages
// as a longtable; long texts are broken into lines where the table would be too wide. Its first line says what it needs.
func (t *Table) LaTeX(w io.Writer) error {
	env, width := "table", `\columnwidth`
	if t.Wide {
		env, width = "table*", `\textwidth`
	}
	var b strings.Builder
	name, arguments, broken := t.tabular(width)
	size, gap := `\small`, ""
	switch {
	case !broken && t.spare() < 0: // nothing can be broken into lines
		size, gap = `\footnotesize`, "2pt"
	case len(t.Columns)+len(t.Stubs) > 6 || !broken: // the gaps are stretched
		gap = "3pt"
	}
	b.WriteString(t.comment())
	if t.Long {
		fmt.Fprintf(&b, "{%s\n\\setlength{\\LTleft}{0pt}\\setlength{\\LTright}{0pt}\\setlength{\\LTcapwidth}{%s}\n", size, width)
	} else {
		fmt.Fprintf(&b, "\\begin{%s}[t]\n\\centering\n%s\n", env, size)
	}
	if gap != "" {
		fmt.Fprintf(&b, "\\setlength{\\tabcolsep}{%s}\n", gap)
	}
	if t.Decimal() {
		b.WriteString(siunitx)
	}
	fmt.Fprintf(&b, "\\begin{%s}%s\n", name, arguments)
	if head := t.latexHead(); t.Long {
		t.longHead(&b, head, width)
		t.latexRows(&b, width)
		b.WriteString("\\end{longtable}}\n")
	} else {
		b.WriteString(head)
		t.latexRows(&b, width)
		fmt.Fprintf(&b, "\\bottomrule\n\\end{%s}\n", name)
		if len(t.Notes) > 0 {
			fmt.Fprintf(&b, "\\par\\smallskip\n\\parbox{%s}{%s}\n", width, t.latexNotes())
		}
		endFloat(&b, env, t.Caption, Labelled(t.Paper, "tab"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// longHead writes the caption, and the head and foot of a longtable's pages.
func (t *Table) longHead(b *strings.Builder, head, width string) {
	all := len(t.Stubs) + len(t.Columns)
	if t.Caption != "" {
		label := ""
		if l := Labelled(t.Paper, "tab"); l != "" {
			label = `\label{` + l + `}`
		}
		fmt.Fprintf(b, "\\caption{%s}%s \\\\\n", TeX(t.Caption), label)
	}
	b.WriteString(head + "\\endfirsthead\n")
	if t.Caption != "" {
		fmt.Fprintf(b, "\\multicolumn{%d}{@{}l}{\\tablename~\\thetable{} (continued)} \\\\\n", all)
	}
	b.WriteString(head + "\\endhead\n\\bottomrule\n\\endfoot\n")
	if len(t.Notes) > 0 {
		fmt.Fprintf(b, "\\bottomrule\n\\addlinespace\n\\multicolumn{%d}{@{}l@{}}{\\rlap{\\parbox[t]{%s}{%s}}} \\\\\n\\endlastfoot\n", all, width, t.latexNotes())
	}
}

func (t *Table) latexNotes() string {
	return `\footnotesize\raggedright ` + strings.Join(lists.Map(t.Notes, TeX), `\par `)
}

func (c Column) align() string {
	switch {
	case c.Align == atPoint:
		return "r"
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

// Columns returns how many columns the header spans.
func (s Span) Columns() int { return s.last - s.first + 1 }

// Headed reports whether a column or stub has a header.
func (t *Table) Headed() bool {
	return slices.ContainsFunc(t.Stubs, func(s string) bool { return s != "" }) ||
		slices.ContainsFunc(t.Columns, func(c Column) bool {
			return c.Title != "" || slices.ContainsFunc(c.Groups, func(g string) bool { return g != "" })
		})
}

func (t *Table) latexHead() string {
	head := "\\toprule\n"
	if !t.Headed() {
		return head
	}
	line := func(cells []string) { head += noOption(strings.Join(cells, " & ")) + " \\\\\n" }
	for _, spans := range t.HeadRows() {
		cells, rules := make([]string, len(t.Stubs)), ""
		for _, s := range spans {
			if s.Title == "" {
				cells = append(cells, strings.Repeat(" & ", s.last-s.first))
				continue
			}
			cells = append(cells, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, s.Columns(), TeX(s.Title)))
			rules += fmt.Sprintf("\\cmidrule(lr){%d-%d}\n", len(t.Stubs)+s.first+1, len(t.Stubs)+s.last+1)
		}
		line(cells)
		head += rules
	}
	line(append(lists.Map(t.Stubs, TeX), lists.Map(t.Columns, func(c Column) string {
		if c.Align == atPoint {
			return "{" + TeX(c.Title) + "}"
		}
		return TeX(c.Title)
	})...))
	return head + "\\midrule\n"
}

// noOption keeps a row from beginning with what \\ or a rule would take for its option.
func noOption(line string) string {
	if line != "" && strings.ContainsRune("[*(", rune(line[0])) {
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
			// A title set further up must not leave a blank line, which TeX reads as \par.
			fmt.Fprintf(b, "%s \\\\\n", noOption(strings.TrimPrefix(strings.Join(cells, "\n& "), "\n")))
		}
	}
}

func (t *Table) latexCells(row int) (cells []string) {
	for s, title := range t.Rows[row].Titles {
		cells = append(cells, t.latexTitle(row, s, title))
	}
	for _, c := range t.Columns {
		cell := t.Rows[row].Cells[c.ID].latex
		if c.Align == atPoint {
			cell = t.Rows[row].Cells[c.ID].aligned
		}
		cells = append(cells, cell(c.Format))
	}
	return cells
}

// latexTitle joins a title of neighbouring rows into one multirow, in all but the last stub column.
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
