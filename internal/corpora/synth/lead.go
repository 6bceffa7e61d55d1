package synth

import (
	"fmt"
	"strconv"
	"strings"
)

// introduction writes the paragraphs above the contents and returns the surface
// text of the first one as HtmlNorm has it.
func (w *writer) introduction() string {
	t := &w.topic
	w.open(elP)
	first := w.collect(func() {
		w.bold(t.bare)
		w.aside()
		w.text(" is " + article(t.adj) + " " + t.adj + " " + t.noun + " in ")
		w.mark(answerPlace, func() { w.link(t.place) })
		w.text(". It was " + w.page.cat.done + " in ")
		w.mark(answerYear, func() { w.text(strconv.Itoa(t.year)) })
		w.text(" by ")
		w.mark(answerPerson, func() { w.link(t.person) })
		w.text(",")
		w.ref()
		w.text(" and it is known for its ")
		w.mark(answerKnown, func() {
			w.text(t.words[0] + " " + t.words[1] + ", " + t.words[8] + " and ")
			w.link(t.words[9])
		})
		// The sentence that a revision changes.
		edits := int(w.page.edits[w.look.revision][early])
		w.text(fmt.Sprintf(". By %d it had %d visitors a year.", t.year+1, 1000+97*edits+w.page.index%90))
		w.ref()
	})
	w.closeLine()
	w.open(elP)
	w.text("The " + t.noun + " of " + t.place + " was " + pick(w.r, verbs) + " with " + t.helper)
	if w.page.volatile == early {
		w.text(", and it raised over $63 million (equivalent to $" + strconv.Itoa(138+3*int(w.look.render)) + " million today)")
	}
	w.text(`. In the "` + t.words[2] + " " + t.words[10] + `" of ` + strconv.Itoa(t.year+7) + ", " + t.person + "'s " + t.terms[1] + " didn't " + pick(w.r, []string{"change", "move", "return"}) + ".")
	w.ref()
	w.closeLine()
	w.sentences(3)
	return first
}

// aside writes the parenthesis after the name, with the blank before it, and
// leaves both out of the collected text if HtmlNorm removes them.
func (w *writer) aside() {
	removed := w.page.features.aside == pronunciation && w.page.pronunciationFirst(int(w.look.revision))
	lead := w.lead
	if removed {
		w.lead = nil
	}
	switch w.page.features.aside {
	case pronunciation:
		w.mixed("", " (", `<SPAN class="nowrap"><SPAN class="IPA nopopups"><A href="/wiki/Help:IPA/English" title="Help:IPA/English">`,
			"/"+ipa(w.topic.bare)+"/", "</A></SPAN></SPAN>", ")")
	case birth:
		w.text(fmt.Sprintf(" (since %d)", w.topic.year))
	}
	w.lead = lead
}

// pronunciationFirst says whether HtmlNorm's look at the first parenthesis finds
// the pronunciation and not one of the title.
func (p *page) pronunciationFirst(revision int) bool {
	return !strings.Contains(p.titleAt(revision), "(")
}

// ipa is the name in letters of the International Phonetic Alphabet, of which
// T5's vocabulary lacks the stress mark, the long mark and most vowels.
func ipa(name string) string { return "ˈ" + phonetic.Replace(strings.ToLower(asciiOnly(name))) }

var phonetic = strings.NewReplacer("a", "ɑː", "e", "ɛ", "i", "iː", "o", "oʊ", "u", "ʊ", "g", "ɡ", "r", "ɹ",
	" ", "ˌ", "'", "", `"`, "", "&", "ənd", ",", "", ":", "", "?", "")

func asciiOnly(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		return -1
	}, s)
}

// ref writes a footnote mark, which NQ does not tokenize.
func (w *writer) ref() {
	if !w.page.features.references {
		return
	}
	w.refs++
	n := strconv.Itoa(w.refs)
	w.raw(`<SUP id="cite_ref-`, n, `" class="reference"><A href="#cite_note-`, n, `">[`, n, `]</A></SUP>`)
}

// sentence is made of the page's words and a few from everywhere.
func (w *writer) sentence() string {
	t, r := &w.topic, w.r
	own, term := pick(r, t.words), pick(r, t.terms)
	noun, verb, adj := pick(r, nouns), pick(r, verbs), pick(r, adjectives)
	year := strconv.Itoa(t.year + r.n(60))
	switch r.n(12) {
	case 0:
		return "The " + adj + " " + term + " of " + t.bare + " was " + verb + " in " + year + "."
	case 1:
		return "In " + year + ", " + name(r) + " " + name(r) + " " + verb + " the " + own + " and the " + noun + "."
	case 2:
		return "It has " + strconv.Itoa(2+r.n(40)) + "," + strconv.Itoa(100+r.n(899)) + " " + pick(r, units) + " of " + noun + "."
	case 3:
		return "The " + own + " near " + t.place + " is " + adj + ", but the " + term + " isn't."
	case 4:
		return t.person + " " + verb + " the " + adj + " " + noun + " of the " + t.noun + "."
	case 5:
		return "Between " + year + "–" + strconv.Itoa(t.year+70) + " the " + term + " was " + verb + " by " + article(noun) + " " + noun + "."
	case 6:
		return "A second " + own + "—the " + adj + " one—was " + verb + " for the " + noun + "."
	case 7:
		return "Its " + noun + "-" + term + " was " + verb + ", and visitors " + pick(r, verbs) + " the " + own + "."
	case 8:
		return `"The ` + own + `", ` + t.helper + ` said, "was always ` + adj + `."`
	case 9:
		return "Most of the " + noun + "s (about " + strconv.Itoa(10+r.n(80)) + "%) were " + verb + " with " + own + "."
	case 10:
		return "Dr. " + name(r) + "'s " + noun + " [of " + year + "] " + verb + " non-profit " + term + "s."
	}
	return "The " + t.noun + "'s " + own + " " + verb + " the " + noun + " at 07:" + strconv.Itoa(10+r.n(49)) + " in " + pick(r, months) + "."
}

// sentences writes a paragraph of n sentences, some words of it being links.
func (w *writer) sentences(n int) {
	w.in(elP, func() {
		for i := range n {
			if i > 0 {
				w.text(" ")
			}
			w.text(w.sentence())
			if w.r.chance(40) {
				w.text(" See the ")
				w.link(name(w.r) + " " + pick(w.r, nouns))
				w.text(".")
			}
			if w.r.chance(50) {
				w.ref()
			}
		}
	})
	w.raw("\n")
}

func (w *writer) paragraph() { w.sentences(3 + w.r.n(4)) }

// lateParagraph is what a late edit changes.
func (w *writer) lateParagraph() {
	edits := int(w.page.edits[w.look.revision][late])
	w.leaf(elP, fmt.Sprintf("The last count of the %s was %d, of which %d are in %s.",
		w.topic.terms[2], 5000+31*edits, 100+w.page.index%90, w.topic.place))
	w.raw("\n")
}
