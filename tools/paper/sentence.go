package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/tools/latex"
)

var (
	// floats are compared cell by cell, not as sentences.
	floats    = regexp.MustCompile(`(?s)\\begin\{table\*?\}.*?\\end\{table\*?\}|\\begin\{figure\*?\}.*?\\end\{figure\*?\}|\\begin\{tikzpicture\}.*?\\end\{tikzpicture\}`)
	headings  = regexp.MustCompile(`\\(?:sub)*(?:section|paragraph)\*?\{`)
	asides    = regexp.MustCompile(`~?\\(?:cite[a-z]*(?:\[(?:[^][]|\[[^]]*\])*\])*|ref|eqref|label|input|url)\{[^}]*\}`)
	thinMarks = strings.NewReplacer(`{,}`, ",", `{:}`, ":", `\,`, "", `\!`, "", `\%`, "%", `\_`, "_", `\begin{itemize}`, "\n\n", `\end{itemize}`, "\n\n", `\item`, "\n\n")
	paragraph = regexp.MustCompile(`\n[ \t]*\n`)
	ends      = regexp.MustCompile(`[.!?:][)'}]*\s+`)
	names     = regexp.MustCompile(`(?i)NQ320K[-\w/]*|T5X?(?:-[-\w]+)?|MRR@10|Hits@[0-9]+|Invalid@40|text4k(?:-cased)?|Ncih1|\bh1\b|H1-Cased|UTF-8|doc_[0-9]+|L-8_H-512_A-8`)
	states    = regexp.MustCompile(`(?i)[0-9]|\b(?:more|less|fewer|higher|lower|larger|highest|lowest|best|worse|better|stronger|strongest|faster|always|outperform\w*|increas\w*|decreas\w*|degrad\w*|improv\w*|reduc\w*|effective\w*|consistent\w*|small\w*|close\w*|impact\w*|gains?|widening|competitive|comparable)\b`)
)

// sentences returns the sentences of the prose that state a number, an order or a sign, without commands, references
// and citations. Footnotes are sentences of their own.
func (s *source) sentences() (out []string) {
	_, text, ok := strings.Cut(s.text, `\begin{abstract}`)
	if !ok {
		text = s.text
	}
	text = asides.ReplaceAllString(text, "")
	text = thinMarks.Replace(headings.ReplaceAllString(floats.ReplaceAllString(text, "\n\n"), "\n\n{"))
	text, notes := footnotes(text)
	for _, p := range paragraph.Split(text+"\n\n"+strings.Join(notes, "\n\n"), -1) {
		p = latex.Plain(p)
		for from := 0; from < len(p); {
			end := len(p)
			for _, at := range ends.FindAllStringIndex(p[from:], -1) {
				if next := p[from+at[1]:]; strings.ToLower(next[:1]) != next[:1] || next[0] == '(' {
					end = from + at[1]
					break
				}
			}
			if sentence := strings.TrimSpace(p[from:end]); states.MatchString(names.ReplaceAllString(sentence, "")) {
				out = append(out, sentence)
			}
			from = end
		}
	}
	return out
}

func footnotes(s string) (text string, notes []string) {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, `\footnote{`)
		b.WriteString(before)
		if !ok {
			return b.String(), notes
		}
		note, rest := latex.Argument("{" + after)
		notes = append(notes, note)
		s = rest
	}
}

// listed is a line of the list of sentences.
type listed struct {
	id, kind string
	heldBy   []string // addresses, or blocks without their names
	sentence string   // with … where words are left out
}

// kindsOfSentences say what holds a sentence: a claim is held by the claim block of its name, a number by expectations
// of cells, a setting by a block's attributes, a definition by what a kind does. Nothing here holds context: others'
// results, reasons.
var kindsOfSentences = []string{"claim", "number", "setting", "definition", "context"}

// sentencesFile is the list, beside a pipeline.
const sentencesFile = "assets/paper/sentences.csv"

func readSentences(path string) ([]listed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []listed
	for _, r := range rows[min(1, len(rows)):] {
		l := listed{id: r[0], kind: r[1], sentence: r[3]}
		if r[2] != "" {
			l.heldBy = strings.Split(r[2], ", ")
		}
		out = append(out, l)
	}
	return out, nil
}

// in reports whether a text has the sentence, with other words where it has ….
func (l listed) in(text string) bool {
	return inOrder(text, strings.Split(l.sentence, "…"), words)
}

// compareSentences looks up the paper's sentences in the list, the list's in the paper, and what holds them.
func (s *source) compareSentences(list []listed, claims []claim, steps []string) result {
	r := result{name: "sentences"}
	all := words(latex.Plain(thinMarks.Replace(asides.ReplaceAllString(s.text, ""))))
	prose := s.sentences()
	for _, sentence := range prose {
		w := words(sentence)
		if !slices.ContainsFunc(list, func(l listed) bool { return l.in(w) }) {
			r.problem("the list has no line for: %s", sentence)
		}
	}
	claimed := map[string]claim{} // by name
	for _, c := range claims {
		claimed[c.name] = c
		if !s.says(c.text) {
			r.problem("%s: the paper does not say %q", c.name, c.text)
			continue
		}
		r.claims++
	}
	counts := map[string]int{}
	for _, l := range list {
		counts[l.kind]++
		if !l.in(all) {
			r.problem("the paper does not say: %s", l.sentence)
		}
		switch {
		case !slices.Contains(kindsOfSentences, l.kind):
			r.problem("%q is not one of %s: %s", l.kind, strings.Join(kindsOfSentences, ", "), l.sentence)
		case (l.kind == "claim") != (l.id != ""):
			r.problem("only a claim has an id: %s", l.sentence)
		case l.kind == "claim" && claimed[l.id].text != l.sentence:
			r.problem("the pipeline's claim %q is not: %s", l.id, l.sentence)
		}
		for _, held := range l.heldBy {
			if !slices.ContainsFunc(steps, func(address string) bool { return address == held || strings.HasPrefix(address, held+".") }) {
				r.problem("the pipeline has no %s: %s", held, l.sentence)
			} else if l.kind == "claim" && !slices.Contains(claimed[l.id].items, held) {
				r.problem("%s expects nothing of: %s", held, l.sentence)
			}
		}
	}
	r.note = fmt.Sprintf("; %d sentences: %d claims, %d numbers, %d settings, %d definitions, %d context",
		len(prose), counts["claim"], counts["number"], counts["setting"], counts["definition"], counts["context"])
	return r
}
