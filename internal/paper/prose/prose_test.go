package prose_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// cells are a small pipeline's: two tables and a figure.
func cells() *prose.Numbers {
	number := func(name, tex, value, style string, decimals int, words string) prose.Cell {
		return prose.Cell{Name: name, Inline: render.Inline{TeX: tex, Value: value, Style: style, Decimals: decimals}, Words: words}
	}
	return &prose.Numbers{Scale: "full", Tables: []prose.Table{
		{Address: "table.dedup_counts", Label: "tab:dedup-counts", Cells: []prose.Cell{
			number("url.train", "226{,}180", "226180", "integer", 0, "URL | Train"),
			number("url.dev", "7{,}369", "7369", "integer", 0, "URL | Dev"),
			number("title.train", "108{,}026", "108026", "integer", 0, "Title | Train"),
			number("title.dev", "6{,}930", "6930", "integer", 0, "Title | Dev"),
			number("pages.n", "93", "93", "integer", 0, "PageIDs in collisions | Value"),
		}},
		{Address: "table.effects", Label: "tab:effects", Cells: []prose.Cell{
			number("atomic.hits", "62.2", "62.2134", "fixed", 1, "Atomic | Hits@1"),
			number("naive.hits", "55.3", "55.31", "fixed", 1, "Naive | Hits@1"),
			number("atomic.gain", `\ensuremath{-6.6}`, "-6.61", "signed", 1, "Atomic | Lost"),
			{Name: "seeds.mean", Inline: render.Inline{TeX: `\ensuremath{62.09 \pm 0.10}`, Value: "62.0912", Std: "0.1021", Style: "fixed", Decimals: 2, ShowsStd: true}, Words: "Seeds | Mean"},
			number("seeds.docs", `109.7\,\mbox{K}`, "109739", "kilo", 1, "Seeds | Documents"),
			number("share.part", "0.6007", "0.60071", "text", 0, "Share | Part"),
			number(`odd 50%_#{x}\^.n`, "31", "31", "integer", 0, "Odd | n"),
			number("note.text", `\redsitext{Some \textbf{bold} text}`, "", "text", 0, "Note | Text"),
			number("none.text", `\redsitext{\textendash{}}`, "", "text", 0, "None | Text"),
		}},
		{Address: "figure.model_scaling", Label: "fig:model-scaling", Cells: []prose.Cell{
			number("atomic.tiny.x", "44.1", "44.1", "fixed", 1, "Atomic | x"),
			number("atomic.tiny.y", "61.7", "61.7", "fixed", 1, "Atomic | y"),
		}},
	}}
}

func tex(t *testing.T, n *prose.Numbers) string {
	t.Helper()
	var b strings.Builder
	testkit.None(t, n.WriteTeX(&b))
	return b.String()
}

// TestNumbersFile: the file of numbers is redsi-numbers/1, and reading it gives what was written.
func TestNumbersFile(t *testing.T) {
	text := tex(t, cells())
	goldens.Same(t, "testdata/numbers.tex", text)
	n, err := prose.ReadTeX("numbers.tex", text)
	testkit.None(t, err)
	testkit.Is(t, tex(t, n), text, "read and written again it")
	testkit.Is(t, n.Tables[1].Cells[6].Name, `odd 50%_#{x}\^.n`, "the name of a cell came back as")
	for _, c := range []struct{ text, want string }{
		{"\\redsitable{a}{b}\n", "is not a file of numbers"},
		{"% redsi-numbers/2: x\n", "is not a file of numbers"},
		{"% redsi-numbers/1: x\n\\redsicell{a}{b}{c}{d}{e}{1}{}%\n", "numbers.tex:2: "},
		{"% redsi-numbers/1: x\n\\redsitable{a}{b\n", "numbers.tex:2: a brace is not closed"},
		{"% redsi-numbers/1: x\n\\redsitable{a}{}\n\\redsicell{a}{b}{c}{d}{e}{-1}{}%\n", "not a number of decimals"},
		{"% redsi-numbers/1: x\n\\redsitable{a}{}\n\\redsicell{a}{b}{c}{d}{e}{2a}{}%\n", "not a number of decimals"},
	} {
		if _, err := prose.ReadTeX("numbers.tex", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, not %q", c.text, err, c.want)
		}
	}
}

func read(t *testing.T, files map[string]string) *prose.Paper {
	t.Helper()
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := prose.Read(folder, "", "paper.tex")
	testkit.None(t, err)
	return p
}

func texts(p *prose.Paper) []string {
	return lists.Map(p.Numbers(), func(n prose.Typed) string { return n.Text })
}

// TestTypedNumbers: which numbers of LaTeX are taken for results.
func TestTypedNumbers(t *testing.T) {
	for _, c := range []struct{ tex, want string }{
		{`198,918 and 198{,}918 and 198\,918`, "198,918|198,918|198 918"},
		{`It is 62.2\% of 5, or $62.2\%$.`, "62.2%|5|62.2%"},
		{`$+1.3$, $-0.4$, $−0.4$, up by 3.`, "+1.3|-0.4|−0.4|3"},
		{`$-0.4 \pm 0.1$ and 60.1$_{\pm 0.2}$`, "-0.4 ±0.1|60.1±0.2"},
		{`\num{1234.5} and \textbf{12}\,K and $320\mathrm{K}$ and 44M-parameter`, "1234.5|12 K|320K|44M"},
		{`T5-Base, NQ320K, Hits@10, MRR@10, $10^{-4}$, $5\times10^{-4}$, $x_{12}$, 1{:}2.8, 8x, batch-128, $1\mathrm{e}{-3}$, $3 \times 4$`, ""},
		{"% 12 in a comment\n50\\% of it % 13\n", "50%"},
		{`\cite{paper2021}\citep[p.~12]{x} \ref{sec:12} \label{tab:12} \url{http://a/12} \href{b12}{13}`, "13"},
		{`\includegraphics[width=0.5\textwidth]{f12} \vspace{12pt} \setlength{\tabcolsep}{3pt} \begin{tabular}{lp{3cm}}14 & \multicolumn{2}{c}{15} \\ \cmidrule(lr){2-4} \end{tabular}`, "14|15"},
		{`\verb|12| \begin{verbatim}13\end{verbatim} \begin{lstlisting}[a=1]14\end{lstlisting} \iffalse 15 \iftrue 16 \fi 17 \fi 18`, "18"},
		{`\newcommand{\x}[2]{12 #1} \def\y#1{13} \renewcommand\z{14} 15`, "15"},
		{`\section[Short 1]{Of 2} \footnote{3 notes} \emph{4}`, "2|3|4"},
		{`\begin{tikzpicture}\begin{axis}[xmin=3] \addplot[mark size=2pt] coordinates {(44.1,62.2) (220,594)}; \node at (1,2) {x};\end{axis}\end{tikzpicture} 7`, "44.1|62.2|220|594|7"},
		{`seeds 42--46, pages 3-4, a 2-fold gain`, "42|46|3|4|2"},
		{`$62.1^{*}$ and $62.2^\dagger$`, "62.1|62.2"},
		{`1.2.3 and 12/2020 and v1.2`, ""},
		{`\unknown[12]{13}{14}`, "13|14"},
		{`unbalanced { 12 \cite{ 13`, "12|13"},
	} {
		p := read(t, map[string]string{"paper.tex": c.tex})
		testkit.Is(t, strings.Join(texts(p), "|"), c.want, c.tex)
	}
}

// TestFiles: what a paper reads is read, below its folder, once, and not what redsi wrote.
func TestFiles(t *testing.T) {
	p := read(t, map[string]string{
		"paper.tex":         "\\documentclass{a} 1 % \\begin{document}\n\\begin{document}\n2 \\input{parts/a} \\include{b} \\input ../out \\input{/etc/passwd} \\input{gone}\\input{latex/tables/counts}",
		"parts/a.tex":       "3\n\\input{paper}\\input{parts/a}",
		"b.tex":             "4",
		"latex/numbers.tex": tex(t, cells()), "latex/tables/counts.tex": "5",
	})
	got := lists.Map(p.Numbers(), func(n prose.Typed) string { return n.Place.String() + "=" + n.Text })
	testkit.Is(t, strings.Join(got, " "), "paper.tex:3:1=2 parts/a.tex:1:1=3 b.tex:1:1=4", "numbers")
	missing := lists.Map(p.Missing, func(m prose.Missed) string { return m.Place.String() + "=" + m.Name })
	if s := strings.Join(missing, " "); s != "paper.tex:3:31=../out paper.tex:3:45=/etc/passwd paper.tex:3:65=gone" {
		t.Errorf("missing %s", s)
	}
}

// TestGuardedFiles: of a file that may be missing LaTeX's branch is read, and nothing behind a document's or file's end.
func TestGuardedFiles(t *testing.T) {
	p := read(t, map[string]string{
		"paper.tex": `\begin{document}\IfFileExists{gone}{\input{gone} 1}{2}\IfFileExists{there.tex}{\input{there} 5}{6}
\InputIfFileExists{gone.tex}{7}{8}\InputIfFileExists{local}{9}{10}\begin{verbatim}\end{document}\end{verbatim} 12
\end{document} 13 \redsi{t:after.end} \includegraphics{gone} \input{gone}`,
		"there.tex": `3 \endinput 4 \input{gone}`, "local.tex": "11",
	})
	if s := strings.Join(texts(p), " "); s != "2 3 5 8 9 11 12" || p.Missing != nil {
		t.Errorf("numbers %s, missing %v", s, p.Missing)
	}
	if r := prose.Check(p, cells(), nil); len(r.Unknown) > 0 || r.Pictures != 0 {
		t.Errorf("%+v", r)
	}
}

const paper = `\documentclass{article}
\begin{document}
Deduplication by URL leaves 226,180 train documents, and by title
108\,026; Atomic models reach 62.2 Hits@1, naive 55.3.
In 2020 we had 2 seeds and 40 beams. Atomic loses 6.6 points of Hits.
% 7,369
\redsi{dedup_counts:url.dev} and \redsi[decimals=0]{dedup_counts:url.dve},
\redsi{figure.model_scaling:atomic.tiny.x}, \redsi{no_such:thing.at_all}.

\begin{table}
\begin{tabular}{lrr}
\toprule
& Train & Dev \\
\midrule
URL & 226{,}180 & 7{,}369 \\
Title & 108{,}026 & 6{,}999 \\
\bottomrule
\end{tabular}
\caption{Counts.}\label{tab:dedup-counts}
\end{table}
\end{document}
`

// TestCheck: what is found in a paper, as JSON and Markdown.
func TestCheck(t *testing.T) {
	before := cells()
	before.Tables[0].Cells[3].TeX, before.Tables[0].Cells[3].Value = "6{,}999", "6999"
	before.Tables[0].Cells[1].TeX, before.Tables[0].Cells[1].Value = "7{,}300", "7300"
	r := prose.Check(read(t, map[string]string{"paper.tex": paper}), cells(), before)
	b, err := json.MarshalIndent(r, "", "  ")
	testkit.None(t, err)
	goldens.Same(t, "testdata/check.json", string(b)+"\n")
	var md strings.Builder
	testkit.None(t, r.Markdown(&md))
	goldens.Same(t, "testdata/check.md", md.String())
	if !r.Failed() {
		t.Error("a paper with unknown cells and stale numbers passes")
	}
}

// TestWrite: the command for a number prints it as it is typed.
func TestWrite(t *testing.T) {
	for _, c := range []struct{ tex, want string }{
		{`Atomic Hits@1 of 62.2 in Table~\ref{tab:effects}.`, `\redsi{effects:atomic.hits}`},
		{`Atomic Hits@1 of $+62.2$ in Table~\ref{tab:effects}.`, `\redsi[sign]{effects:atomic.hits}`},
		{`Atomic Hits@1 of 62.21 in Table~\ref{tab:effects}.`, ""},
		{`Atomic loses 6.6 points in Table~\ref{tab:effects}.`, `\redsi[abs]{effects:atomic.gain}`},
		{`Atomic loses $-6.6$ points in Table~\ref{tab:effects}.`, `\redsi{effects:atomic.gain}`},
		{`Atomic loses $+6.6$ points in Table~\ref{tab:effects}.`, ""},
		{`Seeds have a mean of $62.09 \pm 0.10$, Table~\ref{tab:effects}.`, `\redsi{effects:seeds.mean}`},
		{`Seeds have a mean of $62.09 \pm 0.11$, Table~\ref{tab:effects}.`, ""},
		{`Seeds have a mean of $62.09$, Table~\ref{tab:effects}.`, `\redsi[std=none]{effects:seeds.mean}`},
		{`109.7K documents, Table~\ref{tab:effects}.`, `\redsi{effects:seeds.docs}`},
		{`109,739 documents, Table~\ref{tab:effects}.`, ""},
		{`The share is 60.07\%, Table~\ref{tab:effects}.`, `\redsi[factor=100,decimals=2]{effects:share.part}`},
		{`A 44M-parameter model, Figure~\ref{fig:model-scaling}.`, `\redsi[decimals=0]{figure.model_scaling:atomic.tiny.x}`},
		{`By URL 226K are left for training, Table~\ref{tab:dedup-counts}.`, `\redsi[style=kilo,decimals=0]{dedup_counts:url.train}`},
	} {
		r := prose.Check(read(t, map[string]string{"paper.tex": c.tex}), cells(), nil)
		got := ""
		if len(r.Typed) > 0 {
			got = r.Typed[0].Candidates[0].Write
		}
		testkit.Is(t, got, c.want, c.tex)
	}
}

// FuzzRead: no text makes the reader fail, and every place is in its file.
func FuzzRead(f *testing.F) {
	f.Add(paper)
	f.Add(`\begin{table}\multicolumn{2}{c}{1 & 2 \\ \label{a} \redsi[x]{y:z.w`)
	f.Add("\\verb|\\iffalse $^{\\pm 1}_{2} \\input{paper} 1,234.5\\,K")
	f.Fuzz(func(t *testing.T, text string) {
		folder := fstest.MapFS{"paper.tex": {Data: []byte(text)}}
		p, err := prose.Read(folder, "", "paper.tex")
		if err != nil {
			return
		}
		r := prose.Check(p, cells(), cells())
		lines := strings.Split(strings.ReplaceAll(text, "\x00", " "), "\n")
		for _, n := range r.Typed {
			if n.Place.Line < 1 || n.Place.Line > len(lines) || n.Place.Column < 1 || n.Place.Column > len([]rune(lines[n.Place.Line-1])) {
				t.Errorf("%q is at %s, which is nowhere", n.Text, n.Place)
			}
		}
	})
}

// TestFileName: files are named alike by who writes them and by who looks for them.
func TestFileName(t *testing.T) {
	for address, want := range map[string]string{
		"table.counts": "counts", `figure.curve["a/b"]`: "curve--a-b", `table.t["` + strings.Repeat("x", 200) + `"]`: "t--" + strings.Repeat("x", 97),
	} {
		testkit.Is(t, prose.FileName(address), want, address)
	}
}
