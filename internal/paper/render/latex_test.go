package render

import (
	"errors"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestLaTeXRows: what a table's parts are in LaTeX, and what may not be there.
func TestLaTeXRows(t *testing.T) {
	text := func(s string) Cell { return Cell{Text: s, Data: true} }
	number := Number(804434627)
	number.Format = &Format{Style: "text", Prefix: "oldid="}
	columns := []Column{{ID: "a", Title: "A", Format: Format{Style: "text"}}, {ID: "n", Title: "N", Format: Format{Style: "integer"}}}
	headless := []Column{{ID: "a", Format: Format{Style: "text"}}, {ID: "n", Format: Format{Style: "integer"}}}
	long := strings.Repeat("long heading ", 4)
	worded := func(words int, wide bool) Table {
		return Table{Wide: wide, Stubs: []string{"#"}, Columns: columns, Rows: []Row{{ID: "r", Titles: []string{"1"}, Cells: map[string]Cell{"a": text(strings.Repeat("word ", words)), "n": Number(1)}}}}
	}
	for _, c := range []struct {
		name        string
		table       Table
		has, hasNot []string
	}{
		{"no stubs", Table{Columns: columns, Rows: []Row{{ID: "r", Titles: []string{}, Cells: map[string]Cell{"a": text("x"), "n": Number(1)}}}},
			[]string{"{@{\\extracolsep{\\fill}}lr@{}}", "A & N \\\\\n\\midrule\nx\n& 1 \\\\\n"}, nil},
		{"a row that begins as an option", Table{Columns: columns, Rows: []Row{{ID: "r", Titles: []string{}, Cells: map[string]Cell{"a": text("["), "n": Number(1)}}, {ID: "s", Titles: []string{}, Cells: map[string]Cell{"a": text("* b")}}}},
			[]string{"{}[\n", "{}* b\n"}, []string{"\n["}},
		{"under", Table{Columns: columns, Rows: []Row{{ID: "r", Titles: []string{}, Cells: map[string]Cell{"a": text("title"), "n": Number(1)}}, {ID: "s", Titles: []string{}, Under: true, Cells: map[string]Cell{"a": number, "n": {Text: " "}}}}},
			[]string{"raggedright", "title\\newline\n  oldid=804434627\n& 1 \\\\\n\\bottomrule"}, []string{"tabular*"}},
		{"no header", Table{Stubs: []string{""}, Columns: headless, Rows: []Row{{ID: "r", Titles: []string{"t"}}}},
			[]string{"\\toprule\nt\n"}, []string{"midrule"}},
		{"sections", Table{Columns: columns, Rows: []Row{{Section: "short"}, {Section: long}}},
			[]string{"{@{}l}{short}", "{@{}p{\\columnwidth}@{}}{long"}, nil},
		{"short text", worded(4, false), []string{`\begin{tabular*}{\columnwidth}{@{\extracolsep{\fill}}llr@{}}`, `\end{tabular*}`}, nil},
		{"long text is broken, numbers are not", worded(12, false), []string{`\begin{tabularx}{\columnwidth}{@{}l>{\raggedright\arraybackslash}Xr@{}}`, `\end{tabularx}`}, nil},
		{"long text in a wide table", worded(12, true), []string{`\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}llr@{}}`, `\end{tabular*}`}, nil},
		{"numbers that do not fit", Table{Columns: []Column{{ID: "a", Title: strings.Repeat("A", 30)}, {ID: "n", Title: strings.Repeat("N", 30)}}},
			[]string{"\\footnotesize", "{2pt}"}, []string{"\\small"}},
		{"a wide header over narrow columns", Table{Columns: []Column{{ID: "a", Groups: []string{strings.Repeat("G", 60)}}, {ID: "n", Groups: []string{strings.Repeat("G", 60)}}}},
			[]string{"\\footnotesize"}, []string{"\\small"}},
	} {
		for i := range c.table.Columns {
			if c.table.Columns[i].Format.Style == "" {
				c.table.Columns[i].Format.Style = "integer"
			}
		}
		var b strings.Builder
		testkit.None(t, errors.Join(c.table.Finish(), c.table.LaTeX(&b)))
		testkit.Says(t, c.name+"\n"+b.String(), c.has...)
		for _, not := range c.hasNot {
			if strings.Contains(b.String(), not) {
				t.Errorf("%s: there is %q in\n%s", c.name, not, b.String())
			}
		}
	}
}

// TestPrinted: the paper's numbers have as many digits as the cells beside them.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		format Format
		value  float64
		want   string
		off    string // of a difference of that much
	}{
		{Format{Style: "fixed", Decimals: 1, Scale: 100}, 8.7999999, "8.8", "+8.8"},
		{Format{Style: "signed", Decimals: 2}, -0.4, "−0.40", "−0.40"},
		{Format{Style: "kilo", Decimals: 1}, 109700, "109.7 K", "+109.7 K"},
		{Format{Style: "integer"}, 307373, "307,373", "+307,373"},
		{Format{Style: "fixed", Decimals: 1}, -0.04, "0.0", "+0.0"},
	} {
		testkit.Is(t, Number(1).Off(c.format, c.value), c.off, c.value, c.format)
		testkit.Is(t, Number(1).Printed(c.format, c.value), c.want, c.value, c.format)
	}
}
