package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
)

var (
	literal  = regexp.MustCompile(`\\texttt\{(-+)\}`) // dashes that are not one
	texMarks = strings.NewReplacer(`\textendash`, "–", `\textemdash`, "—", "---", "—", "--", "–", `\textquoteright`, "’", `\textquotedblright`, "”",
		`\checkmark`, "✓", `\ldots`, "…", `\spmark `, "▁", `\newline`, " ", `\\`, " ", `\ `, " ", "~", " ", `\{`, "\x01", `\}`, "\x02", `\$`, "\x03", `\%`, "%", `\_`, "_", `\&`, "&")
	texCommand = regexp.MustCompile(`\\[a-zA-Z]+\*?|\\[()\[\]]|[{}$]`)
	unmark     = strings.NewReplacer("\x00", "-", "\x01", "{", "\x02", "}", "\x03", "$")
)

// texText is what LaTeX prints of a cell or a sentence, without styles.
func texText(s string) string {
	s = literal.ReplaceAllStringFunc(characters(s), func(m string) string {
		return strings.ReplaceAll(literal.FindStringSubmatch(m)[1], "-", "\x00")
	})
	return strings.Join(strings.Fields(unmark.Replace(texCommand.ReplaceAllString(texMarks.Replace(s), ""))), " ")
}

// says reports whether a sentence, with an … where it leaves something out, is in the
// paper, by its words.
func (s *source) says(sentence string) bool {
	return inOrder(s.words, pieces(sentence), words)
}

// pieces are what an expected text says between what an … leaves out.
func pieces(text string) []string { return strings.Split(render.Plain(text), "…") }

// inOrder reports whether parts follow each other in a text, as they are written by a form.
func inOrder(text string, parts []string, form func(string) string) bool {
	for _, p := range parts {
		p = form(p)
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}

var (
	listing = regexp.MustCompile(`(?s)\\begin\{lstlisting\}(?:\[.*?\n\s*\])?(.*?)\\end\{lstlisting\}`)
	token   = regexp.MustCompile(`\\node\[token[^\]]*\]\s*\([^)]*\)\s*\{([^}]*)\}`)
)

// drawnTexts compares the texts of a figure with the listings and tokens that the paper
// prints in it.
func (r *result) drawnTexts(body string, b block) {
	var listings, tokens, expected []string
	for _, m := range listing.FindAllStringSubmatch(body, -1) {
		listings = append(listings, strings.Join(strings.Fields(m[1]), " "))
	}
	for _, m := range token.FindAllStringSubmatch(body, -1) {
		tokens = append(tokens, texText(m[1]))
	}
	drawn := strings.Join(append(listings, texText(body)), "\n")
	for _, e := range b.texts() {
		if !inOrder(drawn, pieces(e.Text), strings.TrimSpace) && !inOrder(strings.Join(tokens, " "), pieces(e.Text), strings.TrimSpace) {
			r.problem("%s: the paper's figure does not print %q", e.Cell, e.Text)
			continue
		}
		expected = append(expected, e.Text)
		r.texts++
	}
	for _, text := range listings {
		if !slices.ContainsFunc(expected, func(e string) bool { return inOrder(text, pieces(e), strings.TrimSpace) }) {
			r.problem("the pipeline expects nothing of the listing %.40q", text)
		}
	}
	for _, t := range tokens {
		if !slices.ContainsFunc(expected, func(e string) bool { return strings.Contains(" "+e+" ", " "+t+" ") }) {
			r.problem("the paper draws the token %q, the pipeline expects nothing", t)
		}
	}
}
