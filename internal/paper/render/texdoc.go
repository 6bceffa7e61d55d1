package render

import (
	"fmt"
	"io"
	"strings"
)

// TeXData returns data, which has no markup, as LaTeX.
func TeXData(s string) string { return literalQuotes.Replace(latexText(s)) }

const widestColumn = 10 // the width, in cm, of the widest figure in one of two columns

// LaTeX writes the figure as a float that includes a PDF or PNG file, or with "" a box that says there is none. It needs
// graphicx.
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
