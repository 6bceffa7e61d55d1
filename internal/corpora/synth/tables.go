package synth

import "strconv"

// table writes rows between the tags of a wikitable.
func (w *writer) table(class, caption string, rows func()) {
	w.open(elTable, `class="`+class+`"`, `style="text-align:center"`)
	w.raw("\n")
	if caption != "" {
		w.mixed("<CAPTION>", caption, "</CAPTION>\n")
	}
	w.raw("<TBODY>")
	rows()
	w.raw("</TBODY>")
	w.closeLine()
}

func (w *writer) row(cells ...func()) {
	w.open(elTr)
	for _, cell := range cells {
		w.raw("\n")
		cell()
	}
	w.closeBelow()
}

// th and td make cells; attrs are in the HTML as they are.
func (w *writer) th(text string, attrs ...string) func() {
	return func() { w.leaf(elTh, text, attrs...) }
}

func (w *writer) td(text string, attrs ...string) func() {
	return func() { w.leaf(elTd, text, attrs...) }
}

func (w *writer) linkCell(text string) func() {
	return func() { w.in(elTd, func() { w.link(text) }) }
}

func (w *writer) number() string { return strconv.Itoa(w.r.n(9000)) }

// keyValueTable has two columns, names on the left.
func (w *writer) keyValueTable() {
	w.table("wikitable", "", func() {
		for range 4 + w.r.n(4) {
			w.row(w.th(capital(pick(w.r, w.topic.terms)), `scope="row"`), w.td(name(w.r)+" "+pick(w.r, nouns)))
		}
	})
}

// headerTable has a row of column names, sometimes a caption.
func (w *writer) headerTable() {
	caption := ""
	if w.r.chance(50) {
		caption = capital(pick(w.r, w.topic.terms)) + "s of the " + w.topic.noun
	}
	untokenized := w.r.chance(30) // NQ leaves out some numbers that stand alone
	w.table("wikitable sortable", caption, func() {
		w.row(w.th("Year", `scope="col"`, `class="headerSort"`), w.th("Name", `scope="col"`), w.th("Place", `scope="col"`), w.th("No. of "+pick(w.r, nouns)+"s", `scope="col"`))
		for i := range 4 + w.r.n(7) {
			year := w.td(strconv.Itoa(w.topic.year + i))
			if untokenized && i < 4 {
				year = func() { w.empty(elTd, strconv.Itoa(w.topic.year+i)) }
			}
			w.row(year, w.linkCell(name(w.r)+" "+pick(w.r, w.topic.words)), w.linkCell(name(w.r)), w.td(w.number()))
		}
	})
}

// matrixTable has cells and no names.
func (w *writer) matrixTable() {
	w.table("wikitable", "", func() {
		for range 3 + w.r.n(4) {
			w.row(w.td(pick(w.r, w.topic.words)), w.td(w.number()), w.td(""), w.td(w.number()), w.td(pick(w.r, adjectives)))
		}
	})
}

func (w *writer) singleColumnTable() {
	w.table("wikitable", "", func() {
		for range 3 + w.r.n(4) {
			w.row(func() { w.in(elTd, w.entry) })
		}
	})
}

// spanTable has a two-row header with colspan and rowspan, a value over several
// rows, and a summary over all columns below each row, as tables of episodes do.
func (w *writer) spanTable() {
	w.table("wikitable plainrowheaders", "", func() {
		w.row(w.th("Name", `rowspan="2"`), w.th("Votes", `colspan="2"`), w.th("Place", `rowspan="2"`))
		w.row(w.th("A"), w.th("B"))
		for i := range 3 + w.r.n(3) {
			cells := []func(){w.td(name(w.r) + " " + pick(w.r, nouns)), w.td(w.number()), w.td(w.number())}
			if i == 0 {
				cells = append(cells, w.td(w.topic.place, `rowspan="2"`))
			} else if i > 1 {
				cells = append(cells, w.linkCell(name(w.r)))
			}
			w.row(cells...)
			if i > 0 {
				w.row(w.td(w.sentence(), `class="description"`, `colspan="4"`))
			}
		}
	})
}

// nestedTable lays out two columns with a list and a table in its cells.
func (w *writer) nestedTable() {
	w.table("multicol", "", func() {
		w.row(
			func() { w.in(elTd, w.bulletList, `style="vertical-align:top"`) },
			func() { w.in(elTd, w.keyValueTable, `style="vertical-align:top"`) },
		)
	})
}
