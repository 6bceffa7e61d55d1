package synth

import (
	"cmp"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
)

// truth derives the Truth from the plan, without the sizes of files and the counts of the dump.
func (p *plan) truth() *Truth {
	t := &Truth{Config: p.cfg, Records: Counts{len(p.train), len(p.dev), len(p.train) + len(p.dev)},
		Documents: map[Key]Counts{}, Coverage: map[Key]Coverage{}, Titles: map[Key]Titles{}}
	symbols := p.columns(func(pg *page, l look, dev bool, row []symbol) {
		for i, k := range Keys() {
			row[i] = pg.symbol(k, l, dev)
		}
		// Uncut texts: each revision has its own edit.
		row[len(Keys())] = sym(pg.index, uint64(l.revision), uint64(l.render), uint64(l.noise))
	}, len(Keys())+1)
	pages := symbols[len(Keys())-1]
	for i, k := range Keys() {
		t.Documents[k] = p.distinct(symbols[i])
		t.Coverage[k] = p.coverage(symbols[i])
		if k == Title || k == NciH1 {
			t.Titles[k] = p.conflicts(symbols[i], pages)
		}
	}
	texts := symbols[len(Keys())]
	urls := symbols[slices.Index(Keys(), URL)]
	t.Texts = p.distinct(texts)
	t.VaryingRevisions = shared(urls, texts)
	resolved := map[symbol]bool{}
	for i, rec := range p.all() {
		if !isResolved(pages[i]) {
			t.Revisions.UnresolvedRecords.add(p.isDev(int(rec.index)))
			continue
		}
		resolved[urls[i]] = true
	}
	t.Revisions.Distinct = t.Documents[URL].Union
	t.Revisions.Resolved = len(resolved)
	t.Revisions.Unresolved = t.Revisions.Distinct - t.Revisions.Resolved
	p.countTexts(t)
	return t
}

func (c *Counts) add(dev bool) {
	c.Union++
	if dev {
		c.Dev++
	} else {
		c.Train++
	}
}

// all lists the records of train, then dev, so that record i is at i.
func (p *plan) all() []record { return append(slices.Clip(p.train), p.dev...) }

func (p *plan) isDev(index int) bool { return index >= len(p.train) }

func (p *plan) columns(fill func(*page, look, bool, []symbol), n int) [][]symbol {
	total := len(p.train) + len(p.dev)
	columns := make([][]symbol, n)
	for i := range columns {
		columns[i] = make([]symbol, total)
	}
	row := make([]symbol, n)
	for i, rec := range p.all() {
		fill(p.page(int(rec.page)), rec.look, p.isDev(i), row)
		for c := range columns {
			columns[c][i] = row[c]
		}
	}
	return columns
}

func (p *plan) distinct(column []symbol) Counts {
	count := func(s []symbol) int { return len(slices.Compact(slices.Sorted(slices.Values(s)))) }
	n := len(p.train)
	return Counts{count(column[:n]), count(column[n:]), count(column)}
}

func (p *plan) coverage(column []symbol) Coverage {
	n := len(p.train)
	train, dev := map[symbol]int{}, map[symbol]int{}
	for _, s := range column[:n] {
		train[s]++
	}
	for _, s := range column[n:] {
		dev[s]++
	}
	c := Coverage{DevTargets: len(dev)}
	for s, queries := range dev {
		if train[s] > 0 {
			c.InTrain++
			c.TrainQueries += train[s]
			c.DevQueries += queries
		}
	}
	return c
}

// isResolved reads the mark in a page symbol.
func isResolved(page symbol) bool { return page&1 == 0 }

// conflicts counts pages with several titles and titles with several pages.
func (p *plan) conflicts(titles, pages []symbol) Titles {
	type both struct{ title, page symbol }
	seen, titlesOf, pagesOf := map[both]bool{}, map[symbol]int{}, map[symbol]int{}
	for i, title := range titles {
		if of := (both{title, pages[i]}); isResolved(of.page) && !seen[of] {
			seen[of] = true
			titlesOf[of.page]++
			pagesOf[title]++
		}
	}
	several := func(counts map[symbol]int) int {
		return lists.Count(slices.Collect(maps.Values(counts)), func(k int) bool { return k > 1 })
	}
	colliding := map[symbol]bool{}
	for of := range seen {
		if pagesOf[of.title] > 1 {
			colliding[of.page] = true
		}
	}
	t := Titles{Fragmented: several(titlesOf), Collisions: several(pagesOf), CollidingPages: len(colliding)}
	for i := range titles {
		if titlesOf[pages[i]] > 1 || pagesOf[titles[i]] > 1 {
			if p.isDev(i) {
				t.AffectedDev++
			} else {
				t.AffectedTrain++
			}
		}
	}
	return t
}

// shared counts the values of one column with several values in the other.
func shared(of, by []symbol) int {
	first, several := map[symbol]symbol{}, map[symbol]struct{}{}
	for i, s := range of {
		if b, ok := first[s]; !ok {
			first[s] = by[i]
		} else if b != by[i] {
			several[s] = struct{}{}
		}
	}
	return len(several)
}

// countTexts computes the counts that follow from the articles and titles of the records.
func (p *plan) countTexts(t *Truth) {
	pairs := map[pair]Substitution{}
	for i, rec := range p.all() {
		pg, dev, revision := p.page(int(rec.page)), p.isDev(i), int(rec.look.revision)
		if pg.pronounced(revision) {
			t.HTMLNorm.PronunciationRemoved.add(dev)
		}
		title := titlePieces(pg.titleAt(revision))
		n := len(pg.article.Pieces) + 2*(len(title)-pg.article.titled())
		if t.Tokens.Union += n; !dev {
			t.Tokens.Train += n
			if i < maxOpenings {
				t.Openings = append(t.Openings, Opening{ExampleID: exampleID(p.cfg, rec), Text: pg.opening(revision)})
			}
			continue
		}
		t.Tokens.Dev += n
		mismatches := maps.Clone(pg.article.mismatches)
		t.Substitutions.Compared += int64(pg.article.compared)
		for _, word := range append(title, title...) { // in <TITLE> and <H1>
			t.Substitutions.Compared += int64(word.compare(mismatches))
		}
		for of, n := range mismatches {
			before := pairs[of]
			pairs[of] = Substitution{of.html, of.stored, before.Count + n, before.Records + 1}
			t.Substitutions.Mismatches += n
		}
	}
	t.Substitutions.Pairs = slices.AppendSeq([]Substitution{}, maps.Values(pairs))
	slices.SortFunc(t.Substitutions.Pairs, func(a, b Substitution) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.HTML, b.HTML), cmp.Compare(a.Stored, b.Stored))
	})
}
