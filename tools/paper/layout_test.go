package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/tools/latex"
)

const laidOut = `%% file: main.tex
\input{Tables/grid}
\begin{table}[t]
\begin{tabularx}{\columnwidth}{@{}l>{\raggedright}X@{}}
\toprule
A & B \\
\midrule
one & two \& three % \\ & comment
\\
\bottomrule
\end{tabularx}
\label{tab:text}
\end{table}
%% file: Tables/grid.tex
\begin{table*}
\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}ll*{2}{rr}p{0.1\textwidth}@{}}
\toprule
& & \multicolumn{2}{c}{\textbf{Atomic}} & \multicolumn{2}{c}{Naive} \\
\cmidrule(lr){3-4}
Configuration & Model & \textbf{H@1} & M & H & M & x \\
\midrule
\multicolumn{7}{@{}l}{\emph{Heading}} \\
\addlinespace[2pt]
\multirow{2}{*}{\textsc{Title}} & Base & \textbf{1} & $\mathbf{2}$ & 3 & 4 & \textendash \\[2pt]
& Small & 1 & 2 & 3 & 4 & \\
\midrule
Page & Base & 1 & 2 & 3 & \textbf{4} & \\
\bottomrule
\end{tabular*}
\label{tab:grid}
\end{table*}
`

func TestTables(t *testing.T) {
	ts, err := latex.Tables(latex.Expand(laidOut))
	if err != nil || len(ts) != 2 {
		t.Fatalf("%d tables, %v", len(ts), err)
	}
	grid, text := ts[0], ts[1]
	if got := grid.Summary(); got != "7 columns, 3 rows, 2 header groups, 1 headings, 1 rules, 3 bold" {
		t.Errorf("grid: %s", got)
	}
	if !grid.Wide || grid.Label != "tab:grid" || grid.Groups[1] != (latex.Group{Title: "Naive", First: 5, Last: 6}) || !slices.Equal(grid.Rows[0].Bold, []int{3, 4}) {
		t.Errorf("grid: %+v", grid)
	}
	if got := text.Summary(); got != "2 columns, 1 rows, 0 header groups, 0 headings, 0 rules, 0 bold" || text.Wide {
		t.Errorf("text: %s", got)
	}
}

func TestCompareLayout(t *testing.T) {
	for _, c := range []struct{ old, new, layout, emphasis string }{
		{"", "", "", ""},
		{`& 3 & \textbf{4} & \\`, `& \textbf{3} & 4 & \\`, "", "bold in the paper only: 3:6; bold here only: 3:5"},
		{`& 3 & \textbf{4} & \\`, `& 3 & 4 & \\`, "", "bold cells: paper 3, here 2; bold in the paper only: 3:6"},
		{`*{2}{rr}p{0.1\textwidth}`, `*{2}{rr}rr`, "columns: paper 7, here 8; headings between rows: paper 1, here 0; rows: paper 3, here 4", ""},
		{`{2}{c}{Naive}`, `{3}{c}{Naive}`, "header groups: paper 2 [3-4 5-6], here 2 [3-4 5-7]", ""},
		{"\\midrule\nPage", "Page", "rules between rows: paper 1, here 0", ""},
		{`M & H & M & x`, `M & H & $\card{\docs}$ & x`, "", ""}, // a header that is only commands is a header
		{"table*", "table", "over both columns of the page: paper true, here false", ""},
	} {
		p, err := latex.Tables(latex.Expand(laidOut))
		if err != nil {
			t.Fatal(err)
		}
		o, err := latex.Tables(latex.Expand(strings.ReplaceAll(laidOut, c.old, c.new)))
		if c.old == "" {
			o, err = p, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		layout, emphasis := compareLayout(p[0], o[0])
		for _, want := range strings.Split(c.layout, "; ") {
			if want != "" && !slices.Contains(layout, want) {
				t.Errorf("%q: %q is not among %q", c.new, want, layout)
			}
		}
		if c.layout == "" && (len(layout) > 0 || strings.Join(emphasis, "; ") != c.emphasis) {
			t.Errorf("%q: layout %q, bold %q", c.new, layout, emphasis)
		}
	}
}

func TestTableMistakes(t *testing.T) {
	for src, want := range map[string]string{
		`\begin{table}\label{tab:x}\end{table}`:                                         "no tabular",
		`\begin{table}\begin{tabular}{l}a & b \\ \end{tabular}\label{tab:x}\end{table}`: "2 columns of 1",
	} {
		if _, err := latex.Tables(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", src, err, want)
		}
	}
}

func TestLayouts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		filetest.Write(t, path, text)
		return path
	}
	source := write("paper.tex", laidOut)
	grid := laidOut[strings.Index(laidOut, `\begin{table*}`):]
	bolder := strings.Replace(grid, "& Small & 1", `& Small & \textbf{1}`, 1)
	own := strings.Replace(grid, "tab:grid", "sec:own", 1)
	for _, c := range []struct {
		args string
		rows string
		code int
		says []string
	}{
		{"", grid, 1, []string{"OK    tab:grid", "NONE  tab:text", "2 tables of the paper: 1 laid out alike, 0 differ, 1 not there"}},
		{"", bolder, 1, []string{"OK    tab:grid", "bold here only: 2:3"}},
		{"-bold", bolder, 1, []string{"DIFF  tab:grid", "0 laid out alike, 1 differ"}},
		{"", own, 1, []string{"NONE  tab:grid", "OURS  sec:own"}},
	} {
		write("out/tables/grid.tex", c.rows)
		args := []string{"-layout", filepath.Join(dir, "out"), source}
		if c.args != "" {
			args = append([]string{c.args}, args...)
		}
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != c.code {
			t.Errorf("exit %d, want %d: %s", code, c.code, errs.String())
		}
		for _, want := range c.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not said:\n%s", want, out.String())
			}
		}
	}
	for _, args := range [][]string{nil, {"-layout", dir}, {"-layout", dir, source}, {"-layout", dir, filepath.Join(dir, "none.tex")}} {
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}
