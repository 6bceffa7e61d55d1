package report_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/system/testkit"
)

// nasty are texts that mean something to TeX, or that its fonts and encodings lack.
var nasty = []string{
	`\ { } $ & # ^ _ ~ %`, `100% of $x_i^2$ & more #1 ~ {y} \`, `\input{secret}`, "``\\input|", `"\input|id"`, `\input|"touch ran"`, `^^5cinput{secret}`, `^^M`, `^^00`,
	`\immediate\write18{touch ran}`, `\openout5=ran \write5{x}`, `\catcode37=12`, `\end{document}`, `\csname input\endcsname secret`, `}\fi\fi\else`, `\par\newpage`,
	`]`, `[x]`, `[2pt] *`, `*`, `-- --- ?` + "` !`" + ` << >> ,, ''`, `\\[1in]`, `&&&`, `\verb|x|`, `\begin{verbatim}`,
	"\x00\x01\x07\x08\x1b[31m\x7f", "tab\tand\nline\r\n\n\npar", "\xff\xfe not UTF-8 \xed\xa0\x80", "\u0085\u2028\u2029", "\ufeff\ufffe\uffff\ufffd", "\u202eright to left\u2069", "\u200b\u200d\u00ad",
	"Ä é ß ñ ø Ł ő ğ", "Ελληνικά Кириллица", "日本語 中文 한국어", "العربية עברית हिन्दी ไทย", "👩‍👩‍👧 🏳️‍🌈 🇩🇪 😀", "e\u0301 a\u0308\u0304 z\u0351\u0327\u0310\u035b\u0489\u0321", "\U0010ffff \U000e0041 \ue000", "– — ± ≈ Δ × ℓ ✓ − ≥ ≤ ∼ ∘ “ ” ’ … † ␣ ∑ ∫ √ ∞ ‰ € £ ©",
	strings.Repeat("Donaudampfschifffahrt", 20), strings.Repeat("x", 600), strings.Repeat("日", 100), strings.Repeat("_", 100), strings.Repeat("\\", 50), strings.Repeat("}", 50),
	"<b>bold & \\input{x}</b> <tt>~^_%</tt> <sub>{</sub>", "<b><i><tt>\\</tt></i></b>", "$$", "%%", "##", "=cmd|' /C calc'!A0", "http://x/?a=1&b=%20#c_d",
}

// nastyReport has each of the texts in every place that a pipeline, a result or a worker can put one.
func nastyReport(t *testing.T) *report.Report {
	t.Helper()
	r := &report.Report{Pipeline: strings.Join(nasty[:12], " "), Other: true, Judged: &expect.Judged{Items: []expect.Item{{Scale: strings.Join(nasty[:8], " "), Other: true}}, Part: strings.Join(nasty[:8], " ")}}
	for i, text := range nasty {
		cell := render.Cell{Text: text, Data: true}
		table := &render.Table{Paper: fmt.Sprintf("tab:n%d", i), Caption: text, Stubs: []string{text, "s"}, Scale: text, Wide: i%2 == 0, Long: i%4 > 1, Notes: []string{text},
			Columns: []render.Column{{ID: "a", Title: text, Groups: []string{text}, Format: render.Format{Style: "text"}}, {ID: "b", Title: "b", Groups: []string{""}, Format: render.Format{Style: "text"}}, {ID: "n", Title: text, Format: render.Format{Style: "fixed"}, Align: "decimal"}},
			Rows: []render.Row{{Section: text}, {Section: text, Center: true}, {ID: "x", Titles: []string{text, text}, Cells: map[string]render.Cell{"a": cell, "b": {Text: text}, "n": {Value: new(-1.0), Marks: text, Second: true}}},
				{ID: "y", Titles: []string{text, "y"}, Cells: map[string]render.Cell{"a": {Text: "<tt>" + text + "</tt>"}, "b": cell, "n": cell}}}}
		testkit.None(t, table.Finish())
		x := 1.0
		claim := expect.Claim{Name: text, Text: text, Paper: text, Verdict: render.Broken, Severity: render.Severity(text), Items: []string{"table." + text}, Checks: []expect.Check{{Check: render.Check{Cell: text,
			Form: render.InOrder, Asked: text, Source: text, Cells: []render.Found{{Cell: text, Rebuilt: &x}}, Verdict: render.Broken}}}}
		r.Items = append(r.Items, &report.Item{Index: i, Address: "table." + text, Block: "table", Name: text, Paper: text, Caption: text, Scale: text, State: report.Done, Table: table,
			Checks: []render.Check{
				{Cell: text, Paper: &x, Rebuilt: &x, Verdict: render.Verdict(text)}, {Cell: text, Form: render.IsText, Text: text, RebuiltText: text, Verdict: render.Differs},
				{Cell: text, Form: render.IsText, Text: text, Scale: text, Source: text, Verdict: render.NotRun}},
			Claims: []expect.Claim{claim}})
		r.Judged.Claims = append(r.Judged.Claims, claim)
		r.Nodes = append(r.Nodes, report.Node{Index: i, Address: "table." + text, Kind: text, Run: text, Key: "sha256:" + text})
		r.Envs = append(r.Envs, report.Environment{Values: map[string]string{text: text}, Steps: 1})
		r.Files = append(r.Files, report.SourceFile{Step: text, URL: text, SHA256: text, License: text, Size: 1})
	}
	return r
}

// TestNastyDocument holds the LaTeX of nasty texts; where there is TeX, it is compiled:
// nothing of it is run, and no file is read but the document's own and TeX's.
func TestNastyDocument(t *testing.T) {
	files, err := nastyReport(t).Bundle(context.Background(), nil)
	testkit.None(t, err)
	dir := t.TempDir()
	var all strings.Builder
	for _, f := range files {
		if f.Name != prose.StyleFile { // which is the same for all reports
			fmt.Fprintf(&all, "%% == %s\n%s", f.Name, f.Data)
		}
		if f.Name == prose.NumbersFile {
			testkit.None(t, testkit.Err(prose.ReadTeX(f.Name, string(f.Data))))
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		testkit.Write(t, path, f.Data)
	}
	goldens.Same(t, "testdata/nasty.tex", all.String())
	program, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Log("there is no pdflatex here: the document was compared, not compiled")
		return
	}
	testkit.Write(t, filepath.Join(dir, "secret.tex"), `\errmessage{the secret was read}`)
	testkit.Write(t, filepath.Join(dir, "paper.tex"), "\\documentclass{article}\\usepackage{redsi}\\begin{document}x\\end{document}")
	for _, main := range []string{"paper.tex", "main.tex"} { // the shell is not closed, so that what would be run is run
		c := exec.Command(program, "-interaction=nonstopmode", "-halt-on-error", "-shell-escape", "-recorder", main)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", main, err, out[max(0, len(out)-3000):])
		}
	}
	testkit.ErrIs(t, testkit.Err(os.Stat(filepath.Join(dir, "ran"))), os.ErrNotExist, "a text was run")
	read, err := os.ReadFile(filepath.Join(dir, "main.fls"))
	testkit.None(t, err)
	own := map[string]bool{"main.aux": true, "main.out": true}
	for _, f := range files {
		own[f.Name] = true
	}
	inputs := 0
	for line := range strings.Lines(string(read)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "INPUT ")
		if path = strings.TrimPrefix(path, "./"); ok && !strings.Contains(path, "texmf") && !strings.Contains(path, "texlive") {
			if !own[path] {
				t.Errorf("it read %s", path)
			}
			inputs++
		}
	}
	if inputs < len(files) {
		t.Errorf("it read %d of its own %d files", inputs, len(files))
	}
}
