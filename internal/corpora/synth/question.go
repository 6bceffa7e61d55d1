package synth

import (
	"strconv"
	"strings"
)

// Short answers that the first paragraph holds, as names of marks.
const (
	answerPerson = "person"
	answerYear   = "year"
	answerPlace  = "place"
	answerKnown  = "known"
)

type question struct {
	text   string
	answer string // "" if the page does not say
}

// question asks about a page with its own words. Train and dev ask the same
// things in other words, so that a model can learn from one for the other.
func (p *page) question(t topic, rec record, dev bool) question {
	r := &rng{mix(uint64(p.cfg.Seed), forQuestion, uint64(rec.index))}
	done, year := p.cat.done, strconv.Itoa(t.year)
	term, word, made := t.terms[r.n(len(t.terms))], t.words[r.n(8)], t.words[8+r.n(4)]
	train := []question{
		{"who " + past(done) + " " + t.title, answerPerson},
		{"when was " + t.title + " " + done, answerYear},
		{"where is the " + t.noun + " " + t.title, answerPlace},
		{"what is " + t.title + " known for", answerKnown},
		{"which " + t.noun + " was " + done + " by " + t.person, ""},
		{t.noun + " in " + t.place + " known for " + t.words[0] + " and " + t.words[8], answerKnown},
		{"what is the " + term + " of " + t.title, ""},
		{"how many visitors did " + t.title + " have by " + strconv.Itoa(t.year+1), ""},
		{"why is " + t.title + " " + t.adj, ""},
		{"is there " + article(word) + " " + word + " at " + t.title + " in " + t.place, ""},
		{"name of the " + t.noun + " " + done + " in " + t.place + " in " + year, ""},
		{t.person + " " + made + " " + t.bare, answerPerson},
	}
	asked := []question{
		{"who was it that " + past(done) + " the " + t.noun + " " + t.title, answerPerson},
		{"in what year was the " + t.noun + " " + t.title + " " + done, answerYear},
		{t.title + " is " + article(t.noun) + " " + t.noun + " in which place", answerPlace},
		{"what made " + t.title + " in " + t.place + " famous", answerKnown},
		{"what do " + t.person + " and " + t.title + " have to do with each other", answerPerson},
		{"the " + term + " of " + t.title + " and its " + t.words[0], ""},
		{"tell me about " + t.title + " and " + made, ""},
		{"does " + t.title + " have " + article(word) + " " + word, ""},
	}
	list := train
	if dev {
		list = asked
	}
	q := list[(int(rec.ordinal)+p.index)%len(list)]
	q.text = strings.Join(questionTokens(q.text), " ")
	return q
}

// past is the simple past of a participle.
func past(done string) string {
	if done == "written" {
		return "wrote"
	}
	return done
}

// questionTokens are lower-case words without punctuation, as people typed them.
func questionTokens(text string) []string {
	text = strings.ToLower(text)
	text = strings.NewReplacer("'s", " 's", ",", " ", ":", " ", "?", " ", `"`, " ", "(", " ", ")", " ", "–", " ", "u.s.", "us", "&", "and").Replace(text)
	return strings.Fields(text)
}
