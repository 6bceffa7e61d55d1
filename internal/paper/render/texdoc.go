package render

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// TeXData returns data, which has no markup, as LaTeX.
func TeXData(s string) string { return literalQuotes.Replace(latexText(s)) }

const widestColumn = 10 // the width, in cm, of the widest figure in one of two columns

// LaTeX writes the figure as a float, by graphicx, with a PDF or PNG file, or with "" a box that says there is none.
func (f *Figure) LaTeX(w io.Writer, file string) error {
	env, width := "figure", `\columnwidth`
	if f.Width > widestColumn {
		env, width = "figure*", `\textwidth`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\\begin{%s}[t]\n\\centering\n", env)
	if file == "" {
		b.WriteString("\\fbox{LaTeX needs this picture as PDF or PNG, and no step wrote one.}\n")
	} else {
		fmt.Fprintf(&b, "\\includegraphics[width=\\ifdim%.4gcm>%s %s\\else %.4gcm\\fi,height=0.85\\textheight,keepaspectratio]{%s}\n", f.Width, width, width, f.Width, file)
	}
	endFloat(&b, env, f.Caption, Labelled(f.Paper, "fig"))
	_, err := io.WriteString(w, b.String())
	return err
}

func endFloat(b *strings.Builder, env, caption, label string) {
	if caption != "" {
		fmt.Fprintf(b, "\\caption{%s}\n", TeX(caption))
	}
	if label != "" {
		fmt.Fprintf(b, "\\label{%s}\n", label)
	}
	fmt.Fprintf(b, "\\end{%s}\n", env)
}

// label matches what \label and \ref do not read as LaTeX.
var label = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._/+-]*$`)

// CheckLabel reports a label of the paper that LaTeX would not take; "" is none.
func CheckLabel(s string) error {
	if s != "" && !label.MatchString(s) {
		return fmt.Errorf("%q is not a label: it may have only letters, digits and : . _ / + -, such as tab:dedup-counts", s)
	}
	return nil
}

// Labelled returns a label of the given type, such as tab, that LaTeX can refer to; "" for any other.
func Labelled(s, typ string) string {
	if CheckLabel(s) != nil || len(s) <= len(typ)+1 || s[:len(typ)+1] != typ+":" {
		return ""
	}
	return s
}
