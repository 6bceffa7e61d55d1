package latex

import (
	"strings"
	"testing"
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
	ts, err := Tables(Expand(laidOut))
	if err != nil || len(ts) != 2 {
		t.Fatalf("%d tables, %v", len(ts), err)
	}
	grid, text := ts[0], ts[1]
	if grid.Label != "tab:grid" || grid.Columns != 7 || len(grid.Rows) != 3 || len(grid.Groups) != 2 || grid.Groups[1] != (Group{Title: "Naive", First: 5, Last: 6}) {
		t.Errorf("grid: %+v", grid)
	}
	if text.Columns != 2 || len(text.Rows) != 1 || len(text.Groups) != 0 || Plain(text.Rows[0][1].Text) != "two & three" {
		t.Errorf("text: %+v", text)
	}
}

func TestTableMistakes(t *testing.T) {
	for src, want := range map[string]string{
		`\begin{table}\label{tab:x}\end{table}`:                                         "no tabular",
		`\begin{table}\begin{tabular}{l}a & b \\ \end{tabular}\label{tab:x}\end{table}`: "2 columns of 1",
	} {
		if _, err := Tables(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", src, err, want)
		}
	}
}
