package synth

import "strconv"

func (w *writer) item(inside func()) {
	w.raw("\n")
	w.in(elLi, inside)
}

// entry is what a list item says.
func (w *writer) entry() {
	w.link(name(w.r) + " " + pick(w.r, nouns))
	w.text(", the " + pick(w.r, adjectives) + " " + pick(w.r, w.topic.terms) + " of " + pick(w.r, w.topic.words) + " (" + strconv.Itoa(w.topic.year+w.r.n(90)) + ")")
}

func (w *writer) bulletList() {
	w.open(elUl)
	for range 5 + w.r.n(8) {
		w.item(w.entry)
	}
	w.closeBelow()
}

// nestedList has three levels, and text after a nested list.
func (w *writer) nestedList() {
	w.open(elUl)
	for i := range 3 + w.r.n(3) {
		w.item(func() {
			w.text(capital(pick(w.r, w.topic.words)) + " (" + pick(w.r, adjectives) + ")")
			w.raw("\n")
			w.open(elUl)
			for range 2 + w.r.n(3) {
				w.item(w.entry)
			}
			if i == 1 {
				w.item(func() {
					w.text(capital(pick(w.r, nouns)))
					w.raw("\n")
					w.in(elOl, func() {
						w.item(w.entry)
						w.item(w.entry)
						w.raw("\n")
					})
				})
			}
			w.closeBelow()
			if i == 2 {
				w.text("and others")
			}
		})
	}
	w.closeBelow()
}

func (w *writer) numberedList() {
	if w.r.chance(50) {
		w.open(elOl, `start="3"`)
	} else {
		w.open(elOl)
	}
	for range 3 + w.r.n(6) {
		w.item(func() { w.text(w.sentence()) })
	}
	w.closeBelow()
}

// definitions has a definition without a term, and a term without a definition.
func (w *writer) definitions() {
	w.open(elDl)
	w.raw("\n")
	w.leaf(elDd, w.sentence())
	for range 3 + w.r.n(3) {
		w.raw("\n")
		w.leaf(elDt, capital(pick(w.r, w.topic.words))+" "+pick(w.r, nouns))
		w.raw("\n")
		w.leaf(elDd, w.sentence())
	}
	w.raw("\n")
	w.leaf(elDt, capital(pick(w.r, w.topic.terms)))
	w.closeBelow()
}
