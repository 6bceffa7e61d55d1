package prose_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/system/testkit"
)

// document prints cells in every way, and what they expand to in its log.
const document = `\documentclass{article}
\usepackage{redsi}
\newcommand{\say}[2]{\begingroup\def\ensuremath##1{<##1>}\def\pm{+-}\def\mbox##1{##1}\def\,{ }\typeout{#1=#2}\endgroup}
\begin{document}
\tableofcontents
\section{In a title: \redsi{dedup_counts:url.train} and \redsi[decimals=0,percent]{effects:atomic.hits}}
\redsi{dedup_counts:url.train}, $x = \redsi{effects:atomic.gain} + \redsi{effects:seeds.mean}$, $\redsi{effects:note.text}$,
\begin{tabular}{r} \redsi{effects:atomic.gain} \\ \redsi{effects:none.text} \end{tabular} \footnote{\redsi{effects:seeds.docs}}
\redsi{model_scaling:atomic.tiny.x} \redsi{effects:odd 50\%_\#\{x\}\\\^.n}
\say{a}{\redsi{table.dedup_counts:url.train}}
\say{b}{\redsi[thousands=none]{dedup_counts:url.train}}
\say{c}{\redsi[decimals=0]{effects:atomic.hits}}
\say{d}{\redsi[decimals=3,sign]{effects:atomic.hits}}
\say{e}{\redsi[percent, factor=100, decimals=2]{effects:share.part}}
\say{f}{\redsi[abs]{effects:atomic.gain}}
\say{g}{\redsi[std=none]{effects:seeds.mean}}
\say{h}{\redsi[decimals=1]{effects:seeds.mean}}
\say{i}{\redsi[decimals=0]{effects:seeds.docs}}
\say{j}{\redsi[style=integer]{effects:seeds.docs}}
\say{k}{\redsi[raw]{effects:atomic.gain}}
\say{l}{\ifdim\redsi[raw]{effects:atomic.gain}pt<0pt less\else more\fi}
\say{m}{\redsi{figure.model_scaling:atomic.tiny.y}}
\say{n}{\redsi[style=fixed,factor=0.000001,decimals=2]{dedup_counts:url.train}}
\say{o}{\redsi[style=kilo,decimals=1]{dedup_counts:title.train}}
MISTAKES
\end{document}
`

// printed is what the log says.
var printed = []string{"a=226{,}180", "b=226180", "c=62", "d=<+62.213>", `e=60.07\%`, "f=6.6", "g=62.09", "h=<62.1+-0.1>", "i=110 K", "j=109{,}739", "k=-6.6", "l=less", "m=61.7", "n=0.23", "o=108.0 K"}

// TestStyle compiles papers with the engines that are here: the package prints cells in
// text and mathematics, expands, and names the cell that was meant.
func TestStyle(t *testing.T) {
	ran := false
	for _, engine := range []string{"pdflatex", "xelatex", "lualatex"} {
		program, err := exec.LookPath(engine)
		if err != nil {
			continue
		}
		ran = true
		t.Run(engine, func(t *testing.T) {
			log := compile(t, program, strings.Replace(document, "MISTAKES", "", 1))
			for _, want := range printed {
				if !strings.Contains(log, "\n"+want+"\n") {
					t.Errorf("it does not print %s", want)
				}
			}
			testkit.That(t, !strings.Contains(log, "\n!") && !t.Failed(), engine, log)
			log = compile(t, program, strings.Replace(document, "MISTAKES", `\redsi{dedup_count:url.trian} \redsi{scaling:atomic.tiny.z} \redsi[decimal=1]{dedup_counts:url.train} \redsi[decimals=1]{effects:note.text} \redsi[std]{dedup_counts:url.train}`, 1))
			testkit.Says(t, log, "No cell `dedup_count:url.trian'; did you mean `dedup_counts:url.train'?", "did you mean `model_scaling:atomic.tiny.", "has no option `decimal'", "`effects:note.text' is no number", "`dedup_counts:url.train' has no standard deviation")
		})
	}
	if !ran {
		t.Log("there is no LaTeX here: redsi.sty was not compiled")
	}
}

// compile runs an engine twice, so that titles come back from the table of contents.
func compile(t *testing.T, program, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{"paper.tex": text, prose.StyleFile: string(prose.Style), prose.NumbersFile: tex(t, cells())} {
		testkit.Write(t, filepath.Join(dir, name), data)
	}
	var out []byte
	for range 2 {
		cmd := exec.Command(program, "-interaction=nonstopmode", "-no-shell-escape", "paper.tex")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "max_print_line=10000")
		out, _ = cmd.CombinedOutput() // a mistake is an error; what it says is compared
	}
	return strings.ReplaceAll(string(out), "\r", "")
}
