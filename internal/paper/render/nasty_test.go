package render

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/redsi/redsi/internal/system/testkit"
)

// nasty are texts that mean something to what reads them.
var nasty = []string{
	`tab:x}\input{/etc/passwd}`, `\write18{id}`, `\end{tabular}\par`, `^^5cinput`, `%`, `$x$ # & ~ _ ^ { } \`, "``'' -- ?`", `[option]`, `* (x)`,
	"a\n\nb", "a\r\nb\tc", "\x1b]0;t\a\u009b\x7f", "\xff\xfe",
	`[text](javascript:alert(1))`, `![i](http://x/)`, `[r]: javascript:x`, `a | b`, "`code` | `", "<script>alert(1)</script>", `<img src=x onerror=y>`, `&lt;b&gt; &#60; &amp;`,
	"# heading", "1. list", "- list", "    code", "---", "=", `=cmd|' /C calc'!A0`, "+1", "@x", "\t=1", "--", "''", "“”",
	"]]>", "<![CDATA[", "</svg><script>",
}

func nastyTable(text string) *Table {
	data := Cell{Text: text, Data: true}
	return &Table{Paper: text, Caption: text, Stubs: []string{text}, Scale: text, Notes: []string{text, text},
		Columns: []Column{{ID: "a", Title: text, Groups: []string{text}, Format: Format{Style: "text"}}, {ID: "b", Title: "tt", Format: Format{Style: "text"}}, {ID: "n", Title: text, Format: Format{Style: "fixed"}, Align: "decimal"}},
		Rows: []Row{{Section: text}, {ID: text, Titles: []string{text}, Cells: map[string]Cell{"a": data, "b": {Text: "<tt>" + text + "</tt>"}, "n": {Value: num(-1), Marks: text}}},
			{ID: "under", Under: true, Titles: []string{text}, Cells: map[string]Cell{"a": {Text: text}}},
			{ID: "text", Titles: []string{text}, Cells: map[string]Cell{"n": data}}}}
}

// controls matches the commands of our own LaTeX, and the commands that stand for characters.
var controls = regexp.MustCompile(`\\(begin|end|centering|small|footnotesize|setlength|tabcolsep|toprule|midrule|bottomrule|cmidrule|LTleft|LTright|LTcapwidth|rlap|endfirsthead|endhead|endfoot|endlastfoot|tablename|thetable|par|smallskip|parbox|sisetup|addlinespace|multicolumn|multirow|caption|columnwidth|textwidth|newline|raggedright|arraybackslash|extracolsep|fill|textbf|texttt|text[a-z]+|pm|approx|ldots|label|includegraphics|ifdim|else|fi|textheight|[\\{}$&#%_])`)

func TestNastyLaTeX(t *testing.T) {
	dir, document := t.TempDir(), `\documentclass{article}\usepackage[T1]{fontenc}\usepackage{textcomp,amssymb,array,booktabs,multirow,tabularx,graphicx,longtable,siunitx}\begin{document}`+"\n"
	for i := range 2 * len(nasty) {
		var b bytes.Buffer
		text := nasty[i/2]
		x := nastyTable(text)
		x.Long = i%2 > 0
		testkit.None(t, errors.Join(x.Finish(), x.LaTeX(&b), (&Figure{Paper: "fig:" + text, Caption: text, Width: 8}).LaTeX(&b, "x.pdf")))
		if rest := controls.ReplaceAllString(strings.TrimPrefix(b.String(), x.comment()), ""); strings.Contains(rest, `\`) || strings.Contains(b.String(), `\label{`) && CheckLabel("fig:"+text) != nil {
			t.Errorf("%q is LaTeX in\n%s", text, b.String())
		}
		// \newline takes no option; \\ and rules do.
		for _, line := range strings.Split(strings.ReplaceAll(b.String(), "\\newline\n", ""), "\n") {
			if trimmed := strings.TrimSpace(line); trimmed == "" && line != "" || strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "*") {
				t.Errorf("%q begins an option or a paragraph: %q", text, line)
			}
			if strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%q has control characters in %q", text, line)
			}
		}
		if bare := strings.NewReplacer(`\\`, "", `\{`, "", `\}`, "").Replace(b.String()); strings.Count(bare, "{") != strings.Count(bare, "}") {
			t.Errorf("%q: braces do not pair in\n%s", text, b.String())
		}
		b.Reset()
		if x.LaTeX(&b) == nil {
			document += b.String()
		}
	}
	// Where there is TeX, it agrees.
	if program, err := exec.LookPath("pdflatex"); err == nil {
		testkit.Write(t, filepath.Join(dir, "x.tex"), document+`\end{document}`)
		c := exec.Command(program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "x.tex")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out[max(0, len(out)-2000):])
		}
	}
}

var codeSpan = regexp.MustCompile("`[^`]*`")

var unescapedPipe = regexp.MustCompile(`(^|[^\\])\|`)

func TestNastyMarkdown(t *testing.T) {
	for _, text := range nasty {
		var b bytes.Buffer
		x := nastyTable(text)
		testkit.None(t, errors.Join(x.Finish(), x.Markdown(&b)))
		s := b.String()
		for n, line := range strings.Split(s, "\n") {
			if strings.HasPrefix(line, "|") && strings.Count(unescapedPipe.ReplaceAllString(line, "$1\x00"), "\x00") != 5 {
				t.Errorf("%q: not 4 cells in %q", text, line)
			}
			if strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%q has control characters in %q", text, line)
			}
			if n == 0 && (strings.HasPrefix(line, " ") || block.MatchString(line) && !strings.Contains(line, `\`)) {
				t.Errorf("%q begins a block: %q", text, line)
			}
		}
		s = codeSpan.ReplaceAllString(s, "")
		if strings.Contains(s, "](") || strings.HasPrefix(s, "[r]:") || strings.Contains(s, "<script") || strings.Contains(s, "<img") || strings.Contains(s, "&lt;b&gt;") && strings.Contains(text, "&lt;b&gt;") && !strings.Contains(s, "&amp;lt;") {
			t.Errorf("%q is Markdown in\n%s", text, s)
		}
	}
}

func TestNastyHTML(t *testing.T) {
	for _, text := range nasty {
		doc, err := html.Parse(strings.NewReader("<p>" + HTML(text) + Cell{Text: text, Data: true}.HTML(Format{Style: "text"}) + HTML("<tt>"+text+"</tt>")))
		testkit.None(t, err)
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && !strings.Contains(" html head body p code ", " "+n.Data+" ") || n.Type == html.CommentNode {
				t.Errorf("%q is an element %s", text, n.Data)
			}
		}
	}
}

// A picture's text is text: its only elements are the ones that draw.
func TestNastySVG(t *testing.T) {
	for _, text := range nasty {
		for _, f := range []*Figure{
			{Width: 8, Panels: []Panel{{Heading: text, Text: text}}},
			{Width: 8, Flow: []Stage{{Title: text, Text: text, Items: []string{text}, Chosen: text}}},
			{Width: 8, X: &Axis{Title: text, Ticks: []Tick{{0, text}}}, Y: &Axis{Title: text}, Series: []Series{{ID: "s", Title: text, Color: "black", Line: "solid",
				Points: []Point{{ID: "p", X: Number(0), Y: Number(1), Marker: "none"}, {ID: "q", X: Number(1), Y: Number(2), Marker: "none"}}}}},
		} {
			var b bytes.Buffer
			testkit.None(t, errors.Join(f.Finish(), f.SVG(&b)))
			for d := xml.NewDecoder(&b); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%q: %v", text, err)
					break
				}
				if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg g path text rect tspan ", " "+e.Name.Local+" ") {
					t.Errorf("%q is an element %s", text, e.Name.Local)
				}
			}
		}
	}
}

// On request no cell is a formula; without, CSV is as it was.
func TestFormulas(t *testing.T) {
	for _, text := range nasty {
		for _, quote := range []bool{false, true} {
			x := nastyTable(text)
			x.QuoteFormulas = quote
			var b, f bytes.Buffer
			figure := Figure{QuoteFormulas: quote, Panels: []Panel{{Heading: text, Text: text}}}
			testkit.None(t, errors.Join(x.Finish(), x.CSV(&b), figure.CSV(&f)))
			for _, out := range []*bytes.Buffer{&b, &f} {
				rows, err := csv.NewReader(out).ReadAll()
				testkit.None(t, err)
				for _, row := range rows {
					for _, cell := range row {
						if formula := cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])); formula && quote && cell != "-1" {
							t.Errorf("%q is a formula", cell)
						}
						if cell == "'"+text && !quote {
							t.Errorf("%q is quoted", cell)
						}
					}
				}
			}
		}
	}
}

func TestLabels(t *testing.T) {
	for s, want := range map[string]string{"tab:dedup-counts": "tab:dedup-counts", "tab:nq320k_x": "tab:nq320k_x", "fig:x": "", "tab:": "", `tab:x}\input{y}`: "", "tab:a b": "", "": "", "tab:x%": "", "tab": ""} {
		testkit.Is(t, Labelled(s, "tab"), want, s)
	}
	for _, s := range []string{"", "sec:identifier-analysis", "app:x.1"} {
		testkit.None(t, CheckLabel(s))
	}
	testkit.Some(t, CheckLabel(`tab:x}\input{y}`), "tab:x}\\input{y} is a label")
}
