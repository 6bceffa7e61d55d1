package report

import (
	"bytes"
	"context"
	_ "embed" // the document's template
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

//go:embed bundle.tmpl
var bundleTemplate string

// BundleFile is a file of a LaTeX document, by its path with slashes.
type BundleFile struct {
	Name string
	Data []byte
}

// Entry is a table or figure in the document.
type Entry struct {
	Item     *Item
	Node     *Node // nil if it is left out
	Heading  string
	Ref      string // LaTeX; "" if the paper's label cannot be referenced
	Verdicts string // LaTeX
	Input    string // file with its float; "" before it has run
}

// codePoint is a character for which LaTeX may have no glyph.
type codePoint struct{ Code, Char string }

// Bundle returns a LaTeX document of the tables and figures that have run: main.tex, their floats and pictures, and the
// files with which a paper prints cells in prose. It needs the packages that tables name in their first lines, graphicx,
// geometry and hyperref, and says in its head how it is compiled.
func (r *Report) Bundle(ctx context.Context, read Reader) ([]BundleFile, error) {
	var files []BundleFile
	var entries []Entry
	labels, names := map[string]bool{}, map[string]map[string]bool{"table": {}, "figure": {}}
	for _, it := range r.Items {
		e := Entry{Item: it, Heading: it.Address, Verdicts: it.verdicts()}
		if it.State != LeftOut {
			e.Node = &r.Nodes[it.Index]
		}
		if it.Paper != "" {
			e.Heading += " (" + it.Paper + ")"
		}
		if it.State == Done {
			label := it.label()
			if labels[label] { // an earlier table has it
				label = ""
			}
			labels[label] = true
			own, err := it.floats(ctx, read, label, fileName(it.Name, names[it.Block]))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", it.Address, err)
			}
			e.Input = strings.TrimSuffix(own[0].Name, ".tex")
			files = append(files, own...)
			if l := render.Labelled(label, "tab"); l != "" {
				e.Ref = `Table~\ref{` + l + `}`
			} else if l := render.Labelled(label, "fig"); l != "" {
				e.Ref = `Figure~\ref{` + l + `}`
			}
		}
		entries = append(entries, e)
	}
	main, err := r.mainTeX(entries, files)
	if err != nil {
		return nil, err
	}
	var numbers bytes.Buffer
	err = r.Numbers().WriteTeX(&numbers)
	files = append(files, BundleFile{prose.StyleFile, prose.Style}, BundleFile{prose.NumbersFile, numbers.Bytes()})
	return append([]BundleFile{{"main.tex", main}}, files...), err
}

func fileName(name string, taken map[string]bool) string {
	name = prose.FileName(name)
	unique := name
	for n := 2; taken[unique] || unique == ""; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	taken[unique] = true
	return unique
}

func (it *Item) label() string {
	if it.Table != nil {
		return it.Table.Paper
	}
	return it.Figure.Paper
}

// floats returns the item's files, first the file to \input. LaTeX is always written from values here: a writer to the
// store can change values, but cannot inject LaTeX.
func (it *Item) floats(ctx context.Context, read Reader, label, name string) ([]BundleFile, error) {
	var b bytes.Buffer
	if it.Table != nil {
		t := *it.Table
		t.Paper = label
		err := t.LaTeX(&b)
		return []BundleFile{{"tables/" + name + ".tex", b.Bytes()}}, err
	}
	f, file, pictures := *it.Figure, "", []BundleFile(nil)
	f.Paper = label
	if output := it.forLaTeX(); output != "" {
		picture, err := expect.ReadOutput(ctx, it.result, output, read)
		if err != nil {
			return nil, err
		}
		file = "figures/" + name + "." + output
		pictures = []BundleFile{{file, picture}}
	}
	err := f.LaTeX(&b, file)
	return append([]BundleFile{{"figures/" + name + ".tex", b.Bytes()}}, pictures...), err
}

// verdicts returns a sentence about the comparison with the paper.
func (it *Item) verdicts() string {
	switch it.State {
	case NotRun:
		if len(it.Failed) > 0 {
			return `\textbf{failed}: ` + render.TeXData(it.Failed[0])
		}
		return `\textbf{not run}.`
	case LeftOut:
		return `\textbf{left out}: ` + render.TeX(it.Why)
	}
	t := it.Tally()
	switch {
	case len(it.Checks)+len(it.Claims) == 0:
		return "no number of the paper to compare with."
	case !t.Comparable():
		return fmt.Sprintf("%d numbers, texts and claims of the paper, not comparable at this scale.", len(it.Checks)+len(it.Claims))
	}
	return render.TeX(t.Sentence("numbers and texts")) + "."
}

func (r *Report) mainTeX(entries []Entry, files []BundleFile) ([]byte, error) {
	t, err := template.New("main").Funcs(template.FuncMap{
		"tex":       render.TeX,
		"breakable": func(s string) string { return `\texttt{` + allowBreaks(render.TeXData(s)) + `}` },
		"verdict":   func(v render.Verdict) string { return render.TeXData(string(v)) },
		"hex":       func(s string) string { return breakHex(strings.TrimPrefix(s, "sha256:")) },
		"size":      words.Size,
		"took":      words.Took,
		"num":       func(v *float64) string { return render.TeX(number(v)) },
		"number":    func(v float64) string { return render.TeX(number(&v)) },
		"data":      func(v string) string { return allowBreaks(render.TeXData(v)) },
		"signed":    func(v *float64) string { return render.TeX(signed(v)) },
	}).Parse(bundleTemplate)
	if err != nil {
		return nil, err
	}
	data := struct {
		*Report
		Title   string
		Entries []Entry
		Unknown []codePoint
		Decimal bool // a table needs siunitx
	}{r, "Tables and figures of " + r.Pipeline, entries, nil, slices.ContainsFunc(r.Items, func(it *Item) bool { return it.Table != nil && it.Table.Decimal() })}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	data.Unknown = foreign(append([]BundleFile{{"main.tex", b.Bytes()}}, files...))
	b.Reset()
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// foreign lists the non-ASCII characters of the .tex files, in order.
func foreign(files []BundleFile) []codePoint {
	seen := map[rune]bool{}
	for _, f := range files {
		for _, c := range string(f.Data) {
			if c > 0x7e && strings.HasSuffix(f.Name, ".tex") {
				seen[c] = true
			}
		}
	}
	return lists.Map(slices.Sorted(maps.Keys(seen)), func(c rune) codePoint { return codePoint{fmt.Sprintf("%04X", c), string(c)} })
}

func allowBreaks(tex string) string {
	return strings.NewReplacer(`/`, `/\allowbreak{}`, `\_`, `\_\allowbreak{}`, `.`, `.\allowbreak{}`, `-`, `-\allowbreak{}`).Replace(tex)
}

// breakHex sets a digest in lines of 32 digits.
func breakHex(s string) string {
	parts := lists.Map(slices.Collect(slices.Chunk([]byte(s), 32)), func(part []byte) string { return render.TeXData(string(part)) })
	return `\texttt{` + strings.Join(parts, `\allowbreak{}`) + `}`
}
