package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// query is a line of queries.jsonl with its judgments.
type query struct {
	name, text, split string
	to                []*section
}

// counts says what became of what the book has.
type counts struct {
	Sections struct {
		All    int `json:"all"`
		Short  int `json:"left_out_short"`
		Copies int `json:"left_out_same_text"`
		Taken  int `json:"documents"`
	} `json:"sections"`
	Entries struct {
		All         int `json:"all"`
		NoLink      int `json:"left_out_no_section"`
		Same        int `json:"left_out_same_words_as_another"`
		Title       int `json:"left_out_title_of_the_section"`
		Name        int `json:"left_out_bare_name"`
		Parameter   int `json:"left_out_name_and_what_it_is"`
		Taken       int `json:"queries"`
		Several     int `json:"queries_with_several_sections"`
		Judgments   int `json:"judgments"`
		Train       int `json:"train"`
		Dev         int `json:"dev"`
		Test        int `json:"test"`
		BrokenLinks int `json:"links_to_sections_without_text"`
	} `json:"entries"`
	References struct {
		Links     int `json:"links"`
		Sentences int `json:"sentences"`
		Leaks     int `json:"left_out_same_words_as_a_dev_or_test_query"`
		Same      int `json:"left_out_same_words_as_another"`
		Titles    int `json:"left_out_title_of_the_section"`
		Taken     int `json:"queries"`
		Judgments int `json:"judgments"`
	} `json:"references"`
}

type collection struct {
	documents []*section
	queries   []query
	counts    counts
}

func (b *book) collect(entries []entry, refs []reference) *collection {
	c := &collection{}
	c.takeSections(b)
	held := c.takeEntries(entries)
	c.takeReferences(refs, held)
	return c
}

func (c *collection) takeSections(b *book) {
	n := &c.counts.Sections
	texts := map[string]bool{}
	for _, s := range b.sections {
		n.All++
		switch {
		case !s.is():
			n.Short++
			s.text = ""
		case texts[s.text]:
			n.Copies++
			s.text = ""
		default:
			texts[s.text] = true
			c.documents = append(c.documents, s)
		}
	}
	n.Taken = len(c.documents)
}

// takeEntries makes queries of entries and returns the words of those that are held out.
func (c *collection) takeEntries(entries []entry) map[string]bool {
	n := &c.counts.Entries
	held := map[string]bool{}
	together := groups{}
	place := map[string]int{}
	for _, e := range entries {
		n.All++
		var to []*section
		for _, s := range e.links {
			if !s.is() {
				n.BrokenLinks++
			} else if !slices.Contains(to, s) {
				to = append(to, s)
			}
		}
		key := fold(e.text)
		switch at, again := place[key]; {
		case len(to) == 0 || key == "":
			n.NoLink++
		case again:
			n.Same++
			for _, s := range to {
				if q := &c.queries[at]; !slices.Contains(q.to, s) {
					q.to = append(q.to, s)
				}
			}
		case isTitle(e.text, to):
			n.Title++
		case isName(e.text, to):
			n.Name++
		case isNamed(e.text, to):
			n.Parameter++
		default:
			place[key] = len(c.queries)
			c.queries = append(c.queries, query{name: fmt.Sprintf("index-%04d", n.All), text: e.text, to: to})
			together.join("under "+fold(e.primary), "of "+bag(e.text))
		}
	}
	n.Taken = len(c.queries)
	for i := range c.queries {
		q := &c.queries[i]
		if q.split = splitOf(together.first("of " + bag(q.text))); q.split != "train" {
			held[bag(q.text)] = true
		}
	}
	for _, q := range c.queries {
		n.Judgments += len(q.to)
		if len(q.to) > 1 {
			n.Several++
		}
		switch q.split {
		case "train":
			n.Train++
		case "dev":
			n.Dev++
		default:
			n.Test++
		}
	}
	return held
}

// takeReferences makes train queries of them. The same words to other sections are one
// query; words of a query that is held out are none.
func (c *collection) takeReferences(refs []reference, held map[string]bool) {
	n := &c.counts.References
	place := map[string]int{}
	first := len(c.queries)
	for _, r := range refs {
		if r.kind == "link" {
			n.Links++
		} else {
			n.Sentences++
		}
		key := fold(r.text)
		isHeld := held[bag(r.text)]
		at, again := place[key]
		switch {
		case isHeld:
			n.Leaks++
		case isTitle(r.text, r.to):
			n.Titles++
		case again:
			n.Same++
		default:
			at = len(c.queries)
			place[key] = at
			c.queries = append(c.queries, query{name: fmt.Sprintf("%s-%04d", r.kind, n.Links+n.Sentences), text: r.text, split: "train"})
		}
		if isHeld || isTitle(r.text, r.to) {
			continue
		}
		for _, s := range r.to {
			if q := &c.queries[at]; !slices.Contains(q.to, s) {
				q.to = append(q.to, s)
			}
		}
	}
	n.Taken = len(c.queries) - first
	for _, q := range c.queries[first:] {
		n.Judgments += len(q.to)
	}
}

// splitOf puts a group of entries into one split: three eighths of them into test, a quarter into dev.
func splitOf(group string) string {
	sum := sha256.Sum256([]byte("redsi postgresql 1\n" + group))
	switch binary.BigEndian.Uint64(sum[:]) % 8 {
	case 0, 1, 2:
		return "test"
	case 3, 4:
		return "dev"
	}
	return "train"
}

// groups are what must be in one split: entries under one word of the index, and those that
// have the same words in another order, "advisory lock" and "lock, advisory".
type groups map[string]string

// first is the name of the group that a member is in: the least of its members.
func (g groups) first(member string) string {
	for g[member] != "" && g[member] != member {
		member = g[member]
	}
	return member
}

func (g groups) join(a, b string) {
	a, b = g.first(a), g.first(b)
	g[a], g[b] = min(a, b), min(a, b)
}

// bag is the words of a text that say what it is about, in the order of the alphabet.
func bag(text string) string {
	var kept []string
	for _, w := range words(text) {
		if !common[w] && !slices.Contains(kept, w) {
			kept = append(kept, strings.TrimSuffix(w, "s"))
		}
	}
	if kept == nil {
		kept = words(text)
	}
	slices.Sort(kept)
	return strings.Join(kept, " ")
}

// isTitle reports whether a query is no more than the title of a section that it is for.
func isTitle(text string, to []*section) bool {
	for _, s := range to {
		if fold(text) == fold(s.heading) || fold(text) == fold(s.title) {
			return true
		}
	}
	return false
}

// isName reports whether a query is one word that is a name in the code: it is written
// like one, or the section has it as code and as nothing else. To find those is to look
// for a string.
func isName(text string, to []*section) bool {
	name := strings.TrimSuffix(text, "()")
	if strings.ContainsAny(name, " ,") {
		return false
	}
	if isCode(name) || len(words(name)) == 0 {
		return true
	}
	for _, s := range to {
		if s.inCode(name) {
			return true
		}
	}
	return false
}

// sorts are what the index calls a name: "work_mem configuration parameter".
var sorts = []string{
	"configuration parameter", "storage parameter", "environment variable", "function", "data type", "parameter",
	"command", "type", "column", "extension", "variable", "option",
}

// isNamed is isName of a name with a word that says what it is.
func isNamed(text string, to []*section) bool {
	for _, sort := range sorts {
		if name, ok := strings.CutSuffix(text, " "+sort); ok {
			return isName(strings.TrimSuffix(name, ","), to)
		}
	}
	return false
}

// inCode reports whether the section has the name in an element for code.
func (s *section) inCode(name string) bool {
	found := false
	walk(s.node, func(n *html.Node) bool {
		if n != s.node && hasClass(n, unitClasses...) {
			return false
		}
		if n.Data == "code" {
			t := strings.TrimSuffix(textOf(n), "()")
			t, _, _ = strings.Cut(t, "(")
			found = found || strings.EqualFold(strings.TrimSpace(t), name)
		}
		return !found
	})
	return found
}
