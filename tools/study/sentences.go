package main

import (
	"regexp"
	"strings"
)

// Lengths of a sentence that is taken, in words.
const (
	leastWords = 4
	mostWords  = 48
)

var (
	sentenceEnd = regexp.MustCompile(`[.!?:]["”)]?\s+`)
	aside       = regexp.MustCompile(`\s*\([^()]*` + hole + `[^()]*\)`)
	holes       = hole + `(,? (and |or )?` + hole + `)*`
	pointer     = regexp.MustCompile(`(?i)(,? (as|and|which|that) )?((is|are|be|been) )?` +
		`((further|also|fully|briefly) )?` +
		`\b(see( also)?|refer to|consult|(described|discussed|explained|documented|listed|shown|defined|covered|given|found|` +
		`summarized|presented|outlined|mentioned|detailed)( (further|in (more |greater )?detail|below|later))?` +
		` (in|by|under|at|on))( the)? ` + holes)
	preposition = regexp.MustCompile(`(?i)\b(in|of|to|from|by|under|with|at) ` + holes)
	column      = regexp.MustCompile(`\(references `) // of a system catalog's table
	thanks      = regexp.MustCompile(`(?i)\b(for|provides?|contains?|has|and) (some )?(more|further|additional|full|complete)( \w+)?` +
		` ?(information|details?|discussion|explanations?|examples?|description)\b( (about|on|of)( \w+){0,3})?`)
)

// sentences are what a paragraph says where it refers to sections, without the reference
// itself. Where a sentence is no more than that ("See … for details"), the sentence
// before it stands with it.
func sentences(paragraph string, to []*section) []reference {
	var out []reference
	var before string
	for _, part := range split(paragraph) {
		n := strings.Count(part, mark)
		text := clean(strings.ReplaceAll(part, mark, ""))
		if n > 0 {
			targets := to[:n]
			to = to[n:]
			if content(text) < leastWords && before != "" {
				text = strings.TrimSpace(before + " " + text)
			}
			if content(text) >= leastWords && len(strings.Fields(text)) <= mostWords && !column.MatchString(text) {
				out = append(out, reference{kind: "sentence", text: text, to: targets})
			}
		}
		before = text
	}
	return out
}

// said are a section's title and a few sentences of its own, evenly from all of it: what
// somebody might ask for who knows no more than that it is there.
func (s *section) said(few int) []string {
	var whole []string
	for _, part := range split(s.text) {
		part = strings.TrimSpace(part)
		if fine.MatchString(part) && content(part) >= leastWords && len(strings.Fields(part)) <= mostWords {
			whole = append(whole, part)
		}
	}
	out := []string{s.title}
	for i := range min(few, len(whole)) {
		out = append(out, whole[i*len(whole)/min(few, len(whole))])
	}
	return out
}

// fine is how a sentence looks that is neither code nor a cell of a table.
var fine = regexp.MustCompile(`^[A-Z][a-z]* .*[a-z]{3,}.*[.]$`)

func split(paragraph string) []string {
	var out []string
	from := 0
	for _, at := range sentenceEnd.FindAllStringIndex(paragraph, -1) {
		rest := paragraph[at[1]:]
		before := paragraph[from:at[0]]
		if strings.HasSuffix(before, "e.g") || strings.HasSuffix(before, "i.e") ||
			rest == "" || strings.ToLower(rest[:1]) == rest[:1] && !strings.HasPrefix(rest, mark) {
			continue
		}
		out = append(out, paragraph[from:at[1]])
		from = at[1]
	}
	return append(out, paragraph[from:])
}

func clean(s string) string {
	for _, re := range []*regexp.Regexp{aside, pointer, preposition} {
		s = re.ReplaceAllString(s, "")
	}
	s = strings.ReplaceAll(s, hole, "")
	s = thanks.ReplaceAllString(s, "")
	s = strings.Join(strings.Fields(s), " ")
	s = strings.ReplaceAll(s, " §", "") // a link to the change, in release notes
	for _, p := range []string{",", ".", ";", ":"} {
		s = strings.ReplaceAll(s, " "+p, p)
	}
	short := strings.TrimRight(s, " ,;:.")
	if short != "" && strings.HasSuffix(s, ".") {
		short += "."
	}
	return short
}

// content is how many words a text has that are not those of every sentence.
func content(s string) int {
	n := 0
	for _, w := range words(s) {
		if !common[w] {
			n++
		}
	}
	return n
}

var common = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a about also an and any are as at be but by can details each example examples for from
		has have how if in information into is it its like may more must no not note of on one only or other see section
		should some such that the their them then there these they this to use used using was when where which will with
		you your`) {
		m[w] = true
	}
	return m
}()
