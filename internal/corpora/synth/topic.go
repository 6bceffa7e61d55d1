package synth

import "strings"

// topic is what a page says and is asked about: the words that its text and its
// questions share and other pages rarely have.
type topic struct {
	title  string
	bare   string // the title without its parenthesis
	noun   string
	adj    string
	person string
	helper string
	place  string
	year   int
	words  []string // made-up and English words of the page
	terms  []string // English words of its category
}

func (p *page) topic(revision int) topic {
	r := &rng{mix(uint64(p.cfg.Seed), forBody, uint64(p.index))}
	t := topic{
		title: p.titleAt(revision), noun: p.cat.noun, adj: pick(r, adjectives),
		person: name(r) + " " + name(r), helper: name(r) + " " + name(r), place: name(r),
		year: 1700 + r.n(250), terms: p.cat.field,
	}
	t.bare = strings.Trim(t.title, `"`)
	if i := strings.Index(t.title, " ("); i >= 0 {
		t.bare = strings.Trim(t.title[:i], `"`)
	}
	for range 8 {
		t.words = append(t.words, pick(r, nouns))
	}
	for range 4 {
		t.words = append(t.words, strings.ToLower(name(r)))
	}
	return t
}

// article is "a" or "an".
func article(word string) string {
	if strings.IndexByte("aeiou", word[0]) >= 0 {
		return "an"
	}
	return "a"
}
