package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/escape"
)

// Titles, captions and text cells are written with a little markup: <b>, <i>, <tt>, <sc>, <sub> and <sup>, closed by </b>
// and so on, nested or not. Any other "<" is itself.

var tag = regexp.MustCompile(`</?(?:b|i|tt|sc|sub|sup)>`)

// span is a run of text under a stack of styles, outermost first.
type span struct {
	text   string
	styles []string
}

func parseMarkup(s string) (out []span, err error) {
	var stack []string
	add := func(text string) {
		if text != "" {
			out = append(out, span{text, slices.Clone(stack)})
		}
	}
	at := 0
	for _, m := range tag.FindAllStringIndex(s, -1) {
		add(s[at:m[0]])
		at = m[1]
		name, closing := strings.CutPrefix(s[m[0]+1:m[1]-1], "/")
		switch {
		case !closing:
			stack = append(stack, name)
		case len(stack) == 0 || stack[len(stack)-1] != name:
			return nil, fmt.Errorf("</%s> closes nothing", name)
		default:
			stack = stack[:len(stack)-1]
		}
	}
	add(s[at:])
	if len(stack) > 0 {
		return nil, fmt.Errorf("<%s> is not closed", stack[len(stack)-1])
	}
	return out, nil
}

// literalQuotes keeps quotes as they are where LaTeX would set others.
var literalQuotes = strings.NewReplacer("'", `\textquotesingle{}`, "`", `\textasciigrave{}`)

// CheckMarkup reports markup that does not nest.
func CheckMarkup(s string) error {
	_, err := parseMarkup(s)
	return err
}

// convert writes marked-up text with a format's escapes and styles.
func convert(s string, escape func(text string, styles []string) string, open, end map[string]string) string {
	spans, err := parseMarkup(s)
	if err != nil {
		return escape(s, nil) // Finish has checked it
	}
	var b strings.Builder
	var stack []string
	for _, sp := range append(spans, span{}) { // the last one closes all
		common := 0
		for common < min(len(stack), len(sp.styles)) && stack[common] == sp.styles[common] {
			common++
		}
		for _, n := range slices.Backward(stack[common:]) {
			b.WriteString(end[n])
		}
		for _, n := range sp.styles[common:] {
			b.WriteString(open[n])
		}
		stack = sp.styles
		b.WriteString(escape(sp.text, sp.styles))
	}
	return b.String()
}

// Plain returns the text without its markup.
func Plain(s string) string {
	return convert(s, func(t string, _ []string) string { return t }, nil, nil)
}

var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`, `<`, `\textless{}`, `>`, `\textgreater{}`,
	"–", `\textendash{}`, "—", `\textemdash{}`, "±", `$\pm$`, "≈", `$\approx$`, "Δ", `$\Delta$`, "×", `$\times$`, "ℓ", `$\ell$`,
	"✓", `$\checkmark$`, "−", `$-$`, "≥", `$\geq$`, "≤", `$\leq$`, "∼", `$\sim$`, "∘", `$\circ$`, "“", "``", "”", "''", "’", "'", "…", `\ldots{}`,
	"†", `\textdagger{}`, "␣", `\textvisiblespace{}`, `"`, `\textquotedbl{}`,
)

func latexText(s string) string { return latexEscapes.Replace(escape.Controls(s)) }

// TeX returns marked-up text as LaTeX.
func TeX(s string) string {
	return convert(s, func(t string, _ []string) string { return latexText(t) },
		map[string]string{"b": `\textbf{`, "i": `\emph{`, "tt": `\texttt{`, "sc": `\textsc{`, "sub": `\textsubscript{`, "sup": `\textsuperscript{`},
		map[string]string{"b": `}`, "i": `}`, "tt": `}`, "sc": `}`, "sub": `}`, "sup": `}`})
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `<`, `&lt;`, `>`, `&gt;`,
	"](", `]\(`, "][", `]\[`, "]:", `]\:`) // no links, wherever they would lead

// entity matches what Markdown would show as another character.
var entity = regexp.MustCompile(`&(#?[0-9A-Za-z]+;)`)

// MarkdownText escapes a text for Markdown.
func MarkdownText(s string) string {
	return markdownEscapes.Replace(entity.ReplaceAllString(escape.Controls(s), "&amp;$1"))
}

func markdown(s string) string {
	return convert(s, func(t string, styles []string) string {
		if slices.Contains(styles, "tt") {
			return strings.NewReplacer("`", "'", "|", "\\|").Replace(escape.Controls(t))
		}
		return MarkdownText(t)
	},
		map[string]string{"b": "**", "i": "*", "tt": "`", "sc": "", "sub": "<sub>", "sup": "<sup>"},
		map[string]string{"b": "**", "i": "*", "tt": "`", "sc": "", "sub": "</sub>", "sup": "</sup>"})
}
