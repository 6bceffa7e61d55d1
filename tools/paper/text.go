package main

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/tools/latex"
)

var (
	literal  = regexp.MustCompile(`\\texttt\{(-+)\}`) // hyphens that make no dash
	texMarks = strings.NewReplacer(`\textendash`, "–", `\textemdash`, "—", "---", "—", "--", "–", `\textquoteright`, "’", `\textquotedblright`, "”",
		`\checkmark`, "✓", `\ldots`, "…", `\spmark `, "▁", `\newline`, " ", `\\`, " ", `\ `, " ", "~", " ", `\{`, "\x01", `\}`, "\x02", `\$`, "\x03", `\%`, "%", `\_`, "_", `\&`, "&")
	texCommand = regexp.MustCompile(`\\[a-zA-Z]+\*?|\\[()\[\]]|[{}$]`)
	unmark     = strings.NewReplacer("\x00", "-", "\x01", "{", "\x02", "}", "\x03", "$")
)

// texText returns what LaTeX prints of a cell or a sentence, without styles.
func texText(s string) string {
	s = literal.ReplaceAllStringFunc(characters(s), func(m string) string {
		return strings.ReplaceAll(literal.FindStringSubmatch(m)[1], "-", "\x00")
	})
	return strings.Join(strings.Fields(unmark.Replace(texCommand.ReplaceAllString(texMarks.Replace(s), ""))), " ")
}

// says reports whether the paper has a sentence, by its words; … stands for words that are left out.
func (s *source) says(sentence string) bool {
	return inOrder(s.words, pieces(sentence), words)
}

// pieces splits an expected text at …, where it leaves something out.
func pieces(text string) []string { return strings.Split(render.Plain(text), "…") }

// inOrder reports whether parts, in the form that form gives them, follow each other in a text.
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

// drawnTexts compares the texts of a figure with the listings and tokens that the paper prints in it.
func (r *result) drawnTexts(body string, b block) {
	listings := lists.Map(listing.FindAllStringSubmatch(body, -1), func(m []string) string { return strings.Join(strings.Fields(m[1]), " ") })
	tokens := lists.Map(token.FindAllStringSubmatch(body, -1), func(m []string) string { return texText(m[1]) })
	var expected []string
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

type number struct {
	value float64
	std   *float64 // after ±
}

var (
	thin       = strings.NewReplacer(`\,`, "", `\!`, "", "{,}", "", `\mathrm{K}`, "K", `\pm`, "±", "~", " ")
	numeric    = regexp.MustCompile(`^(∼ ?)?([+-]?[0-9][0-9,]*(?:\.[0-9]+)?)( ?K)?$`)
	minusSigns = strings.NewReplacer("−", "-", "∼", "")
)

// readNumber reads a cell that is nothing but a number, with its deviation.
func readNumber(cell string) (number, bool) {
	text := latex.Plain(thin.Replace(characters(cell)))
	mean, std, deviates := strings.Cut(text, "±")
	v, ok := parse(mean)
	n := number{value: v}
	if deviates {
		s, isNumber := parse(std)
		n.std, ok = &s, ok && isNumber
	}
	return n, ok
}

func parse(s string) (float64, bool) {
	m := numeric.FindStringSubmatch(minusSigns.Replace(strings.TrimSpace(s)))
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	if m[3] != "" {
		v *= 1000
	}
	return v, err == nil
}

func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), 1) }

// words returns a text as it is compared: Latin letters, digits and check marks, in lower case.
func words(s string) string {
	keep := func(r rune) rune {
		if unicode.Is(unicode.Latin, r) || unicode.IsDigit(r) || r == '✓' {
			return unicode.ToLower(r)
		}
		return -1
	}
	return strings.Map(keep, s)
}

var (
	marks = strings.NewReplacer(`\checkmark`, "✓")
	char  = regexp.MustCompile(`\\char([0-9]+) ?`)
)

// characters resolves \char34.
func characters(s string) string {
	return char.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.Atoi(char.FindStringSubmatch(m)[1])
		return string(rune(n))
	})
}

func texWords(s string) string    { return words(latex.Plain(marks.Replace(characters(s)))) }
func markupWords(s string) string { return words(render.Plain(s)) }

// forms returns the ways in which a paper prints a number in a sentence.
func forms(v float64) []string {
	plain := strconv.FormatFloat(v, 'f', -1, 64)
	out := []string{plain}
	if v == math.Trunc(v) {
		for i := len(plain) - 3; i > 0; i -= 3 {
			plain = plain[:i] + "," + plain[i:]
		}
		out = append(out, plain, strings.ReplaceAll(plain, ",", "{,}"))
	}
	if v >= 1e3 {
		out = append(out, strconv.FormatFloat(v/1e3, 'f', -1, 64)+`\mathrm{K}`)
	}
	if v >= 1e6 {
		out = append(out, strconv.FormatFloat(v/1e6, 'f', -1, 64)+`\)M`)
	}
	return out
}

// says reports whether a text has a number that is not part of another number.
func says(text string, v float64) bool {
	const end = `(?:[^0-9.,]|\.(?:[^0-9]|$)|$)`
	return slices.ContainsFunc(forms(v), func(form string) bool {
		alone := `(?s)(?:^|(?:^|[^0-9.]),|[^0-9.,])` + regexp.QuoteMeta(form) + `(?:` + end + `|,(?:` + end + `|,))`
		return strings.Contains(text, form) && regexp.MustCompile(alone).MatchString(text)
	})
}
