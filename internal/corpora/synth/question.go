package synth

import (
	"fmt"
	"strings"
)

// Train and dev ask the same in different words, with a title and a word of the page, so that models can learn from train.
var (
	trainAsks = []string{
		"what is %[1]s known for", "what is the %[2]s of %[1]s", "when did %[1]s become %[2]s", "who wrote about %[1]s and the %[2]s",
		"where is the %[2]s of %[1]s", "why is %[1]s called %[2]s", "%[1]s %[2]s", "how many %[2]s does %[1]s have",
	}
	devAsks = []string{
		"what made %[1]s famous", "the %[2]s that %[1]s has", "in which year was %[1]s %[2]s", "what do %[2]s and %[1]s have to do with each other",
		"tell me about %[1]s and its %[2]s", "does %[1]s have %[2]s",
	}
)

// question asks about a page with its own words, in lower case and without punctuation, as people type them.
func (p *page) question(rec record, dev bool) string {
	r := newRNG(uint64(p.cfg.Seed), forQuestion, uint64(rec.index))
	list := trainAsks
	if dev {
		list = devAsks
	}
	word := string(p.exchange(nil, pick(r, p.article.words)))
	text := fmt.Sprintf(list[(int(rec.ordinal)+p.index)%len(list)], p.titleAt(int(rec.look.revision)), word)
	text = strings.NewReplacer("'s", " 's", ",", " ", ":", " ", ";", " ", "?", " ", `"`, " ", "(", " ", ")", " ", "–", " ", "u.s.", "us", "&", "and").Replace(strings.ToLower(text))
	return strings.Join(strings.Fields(text), " ")
}
