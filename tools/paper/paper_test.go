package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

const tex = `%% file: main.tex
\begin{table}
\begin{tabular}{@{}lrrr@{}}
\toprule
& \multicolumn{2}{c}{\textbf{Naive}} & \\
\cmidrule(lr){2-3}
Reported by & H@1 & $\Delta_{\mathrm{post}}$ & T5 \\
\midrule
\multicolumn{4}{@{}l}{\emph{Ours}} \\
\textsc{Title} & 55.3 & $\mathbf{+0.45 \pm 0.10}$ & B \\
\textsc{PageID} & \textbf{57.3} & \textendash & B\textsuperscript{+} \\
\midrule
\citet{one2022} & 20 & $109.7\mathrm{K}$ & \checkmark \\
\bottomrule
\end{tabular}
\label{tab:the-table}
\end{table}
\begin{table}
\begin{tabularx}{\columnwidth}{lX}
\toprule
Title & Revision \\
\midrule
\textit{A page} & \texttt{oldid=804434627}\newline \emph{Its \unk text 1950--1958\ldots} \\
\bottomrule
\end{tabularx}
\label{tab:of-pages}
\end{table}
Of 231,695 revisions, \(1.88\)M of all, 99.95\%, after $\sim\!65\mathrm{K}$ updates.
The first point is below the second.
\begin{figure}
\begin{tikzpicture}
\addplot coordinates { (1, 0.6013) (44.1, 62.2) };
\end{tikzpicture}
\label{fig:drawn}
\end{figure}
\begin{table}
\begin{tabular}{ll}
\toprule
HTML & Stored \\
\midrule
\texttt{\char34} & \texttt{--} \\
\textendash & \(\checkmark\) \\
\bottomrule
\end{tabular}
\label{tab:pairs}
\end{table}
\begin{figure}
\begin{lstlisting}[
  frame=single
]
One,  two \{
three ... [truncated]
\end{lstlisting}
\node[token] (a) {\spmark 14};
\node[token, right] (b) {</s>};
\label{fig:texts}
\end{figure}
Atomic identifiers \emph{win} \citep{one2022} everywhere, but \textsc{Naive} \% lose.
`

const hcl = `table "the_table" {
  paper   = "tab:the-table"
  stubs   = ["Reported by"]
  columns = [
    { id = "h", title = "H@1", groups = ["<b>Naive</b>"], format = "fixed", decimals = 1, best = "max" },
    { id = "d", title = "Δ<sub>post</sub>", groups = ["<b>Naive</b>"], format = "signed", decimals = 2, std = true },
    { id = "t5", title = "T5", format = "text" },
  ]
  rows = [
    { section = "<i>Ours</i>" },
    { id = "title", titles = ["<sc>Title</sc>"], texts = { t5 = "B" }, bold = ["d"] },
    { id = "page_id", titles = ["<sc>PageID</sc>"], texts = { t5 = "B<sup>+</sup>" } },
    { rule = true },
    { id = "one2022", titles = ["One (2022)"], numbers = { h = 20 }, texts = { d = "109.7 K", t5 = "✓" } },
  ]
  expect = [
    { cell = "title.h", value = 55.3 },
    { cell = "title.d", value = 0.45, std = 0.1 },
    { cell = "page_id.h", value = 57.3 },
  ]
}
table "of_pages" {
  paper   = "tab:of-pages"
  stubs   = [""]
  columns = [{ id = "title", title = "Title", format = "text" }, { id = "revision", title = "Revision", format = "text" }]
  rows    = [{ id = "oldid", titles = ["oldid"] }, { id = "text", titles = ["text"] }]
  expect = [
    { cell = "oldid.revision", value = 804434627 },
    { cell = "oldid.title", text = "<i>A page</i>" },
    { cell = "text.revision", text = "…Its <unk>text…" },
  ]
}
table "pairs" {
  paper   = "tab:pairs"
  stubs   = []
  columns = [{ id = "html", title = "HTML", format = "text" }, { id = "stored", title = "Stored", format = "text" }]
  rows    = [{ id = "r1" }, { id = "r2" }]
  expect = [
    { cell = "r1.html", text = "\"" },
    { cell = "r1.stored", text = "--" },
    { cell = "r2.html", text = "–" },
    { cell = "r2.stored", text = "✓" },
  ]
}
figure "texts" {
  paper  = "fig:texts"
  panels = [{ heading = "a", text = "x" }, { heading = "b", text = "y" }]
  expect = [
    { cell = "panels.0", text = "One, two \\{ three …" },
    { cell = "panels.1", text = "▁14 </s>" },
  ]
}
table "told" {
  paper   = "sec:told"
  stubs   = [""]
  columns = [{ id = "n", title = "n", format = "fixed", decimals = 2 }]
  rows    = [{ id = "a", titles = ["a"] }, { id = "b", titles = ["b"] }, { id = "c", titles = ["c"] }, { id = "d", titles = ["d"] }]
  expect "d.n" { value = 65000 }
  expect "a.n" { value = 231695 }
  expect "b.n" { value = 1880000 }
  expect "c.n" { value = 99.95 }
}
claim "win" {
  text = "Atomic identifiers win … everywhere"
  expect {
    cell  = table.told["a.n"]
    above = [table.told["c.n"]]
  }
}
figure "drawn" {
  paper = "fig:drawn"
  x     = { title = "x" }
  y     = { title = "y" }
  series = [{ id = "s", points = [{ id = "a", x = { number = 1 }, y = { number = 60.13 } }, { id = "b", x = { number = 44.1 }, y = { number = 62.2 } }] }]
  expect "s.a.y" { value = 60.13 }
  expect "s.b.x" { value = 44.1 }
  expect "s.b.y" { value = 62.2 }
}
claim "drawn" {
  text = "is below the second"
  expect {
    cell  = figure.drawn["s.a.y"]
    below = [figure.drawn["s.b.y"]]
  }
}
`

const sentences = `id,kind,held_by,sentence
,number,table.told,"Of 231,695 revisions, … after"
drawn,claim,figure.drawn,"is below the second"
`

// TestRun: a pipeline that expects what the paper prints, then one mistake at a time in either.
func TestRun(t *testing.T) {
	for _, c := range []struct{ in, old, new, says string }{
		{"", "", "", "12 numbers and 8 texts of the paper are expected as it prints them, and 2 of its claims as it says them; 0 blocks differ"},
		{"hcl", "value = 55.3", "value = 55.4", "title.h: the pipeline expects 55.4, the paper prints 55.3"},
		{"hcl", `    { cell = "title.h", value = 55.3 },`, "", `title.h: the paper prints 55.3, the pipeline expects nothing`},
		{"hcl", "std = 0.1 }", "std = 0.2 }", "title.d: another standard deviation"},
		{"hcl", "h = 20", "h = 21", "one2022.h: the constant is 21"},
		{"hcl", "109.7 K", "109.8 K", `one2022.d: the constant is "109.8 K"`},
		{"hcl", `texts = { t5 = "B" }`, `texts = { t5 = "L" }`, `title.t5: the constant is "L"`},
		{"hcl", `bold = ["d"]`, `bold = []`, "title.d: bold in the paper: true"},
		{"hcl", `best = "max"`, `best = "min"`, "page_id.h: bold in the paper: true"},
		{"hcl", `"one2022", titles`, `"two2022", titles`, "the paper has a row of one2022"},
		{"hcl", `["<sc>Title</sc>"]`, `["<sc>URL</sc>"]`, `row title: the paper's title is "Title", not "URL"`},
		{"hcl", `"H@1"`, `"H@10"`, `header: the paper has "H@1"`},
		{"hcl", `groups = ["<b>Naive</b>"], format`, `groups = ["<b>Atomic</b>"], format`, "header groups"},
		{"hcl", `{ id = "t5", title = "T5", format = "text" },`, `{ id = "t5", title = "T5", format = "text" }, { id = "x", title = "x", format = "text" }, { id = "z", title = "z", format = "text" },`, "the paper has 4 columns, the pipeline 6"},
		{"hcl", "804434627", "804434628", "oldid.revision: the paper's table does not print 804434628"},
		{"hcl", `title = "Revision"`, `title = "Text"`, `header: the paper has "Revision"`},
		{"hcl", "65000", "650", "d.n: the paper does not print 650"},
		{"hcl", "231695", "231694", "a.n: the paper does not print 231694"},
		{"hcl", "value = 99.95", "value = 9.95", "c.n: the paper does not print 9.95"},
		{"hcl", `expect "s.b.y" { value = 62.2 }`, "", "the paper plots 62.2, the pipeline expects nothing"},
		{"hcl", `expect "s.b.x" { value = 44.1 }`, `expect "s.b.x" { value = 44.2 }`, "s.b.x: the paper plots no 44.2"},
		{"hcl", "<i>A page</i>", "Another", `oldid.title: the paper's table does not print "Another"`},
		{"hcl", `    { cell = "oldid.title", text = "<i>A page</i>" },`, "", `the paper prints "A page", the pipeline expects nothing`},
		{"hcl", "…Its <unk>text…", "…Its <unk> text…", `text.revision: the paper's table does not print`},
		{"hcl", `text = "--"`, `text = "–"`, `r1.stored: the pipeline expects "–", the paper prints "--"`},
		{"hcl", `text = "✓"`, `text = "–"`, `r2.stored: the pipeline expects "–", the paper prints "✓"`},
		{"hcl", `{ three …`, `{ four …`, "panels.0: the paper's figure does not print"},
		{"hcl", `▁14 </s>`, `▁14`, `the paper draws the token "</s>", the pipeline expects nothing`},
		{"hcl", `{ cell = "panels.0", text = "One, two \\{ three …" },`, ``, "the pipeline expects nothing of the listing"},
		{"hcl", "win … everywhere", "win everywhere", `win: the paper does not say "Atomic identifiers win everywhere"`},
		{"tex", "tab:the-table", "tab:other", "the pipeline has no table with this label and name"},
		{"tex", "The first point", "One claim more. The first point is higher. The first point", "the list has no line for: The first point is higher."},
		{"csv", "231,695", "231,694", "the paper does not say: Of 231,694"},
		{"csv", ",number,table.told", ",number,table.untold", "the pipeline has no table.untold"},
		{"csv", ",number,table.told", ",numbers,table.told", `"numbers" is not one of claim, number`},
		{"csv", "figure.drawn", "table.told", "table.told expects nothing of: is below"},
		{"csv", "drawn,claim", ",claim", "a claim has an id"},
		{"hcl", `text = "is below`, `text = "is above`, `the pipeline's claim "drawn" is not: is below`},
		{"hcl", `claim "drawn"`, `claim "painted"`, `the pipeline's claim "drawn" is not: is below`},
		{"tex", "57.3", "?", `page_id.h: the pipeline expects 57.3, the paper prints "?"`},
	} {
		dir := t.TempDir()
		texts := map[string]string{"tex": tex, "hcl": hcl, "csv": sentences}
		if c.in != "" {
			changed := strings.Replace(texts[c.in], c.old, c.new, 1)
			if changed == texts[c.in] {
				t.Fatalf("%q is not in the %s", c.old, c.in)
			}
			texts[c.in] = changed
		}
		for ext, name := range map[string]string{"tex": "paper.tex", "hcl": "paper.hcl", "csv": sentencesFile} {
			testkit.Write(t, filepath.Join(dir, name), texts[ext])
		}
		var out, errs bytes.Buffer
		code := run([]string{"-f", filepath.Join(dir, "paper.hcl"), filepath.Join(dir, "paper.tex")}, &out, &errs)
		if want := map[bool]int{true: 0, false: 1}[c.in == ""]; code != want || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s, %q for %q: exit %d, want %d and %q:\n%s%s", c.in, c.new, c.old, code, want, c.says, out.String(), errs.String())
		}
	}
	for _, args := range [][]string{nil, {"-f", "none.hcl", "none.tex"}, {"-f", filepath.Join("..", "..", "pipelines.hcl"), "none.tex"}} {
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}
