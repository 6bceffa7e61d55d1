package synth

import "slices"

// maxRevisions is the number of revisions of a page that records may have.
const maxRevisions = 8

// record is one example: its page, revision and rendering.
type record struct {
	page    int32
	ordinal int32 // number of the question of its page, over both splits
	index   int32 // number of the record, over both splits
	look    look
}

// look is everything that makes two snapshots of a page differ.
type look struct {
	revision uint8
	render   uint8 // value of a template that changes from day to day
	noise    noise
}

// noise is the case of stored tokens, which NQ changes here and there.
type noise uint8

const (
	lowerSite    noise = 1 << iota // "- wikipedia" in the title line
	headingNoise                   // one word of the heading
)

// plan is the corpus as a list of small values.
type plan struct {
	cfg        Config
	train, dev []record
	questions  []int32 // per page, over both splits
}

// newPlan deals the questions out to pages: first the questions that each design needs, then the rest, far more for some
// pages than for others.
func newPlan(cfg Config) *plan {
	p := &plan{cfg: cfg, questions: make([]int32, cfg.Pages)}
	r := newRNG(uint64(cfg.Seed), forPlan)
	order := make([]int32, cfg.Pages)
	for i := range order {
		order[i] = int32(i)
	}
	shuffle(r, order)
	var designed, others []int32
	for _, page := range order {
		if cfg.place(int(page)).design != plain {
			designed = append(designed, page)
		} else {
			others = append(others, page)
		}
	}
	// A sixth of dev, if there are pages enough, asks about pages without a train question.
	devOnly := min(cfg.DevQuestions/6, len(others)/8)
	var train, dev []int32
	for _, page := range designed {
		n := needs[cfg.place(int(page)).design]
		train = append(train, slices.Repeat([]int32{page}, n.train)...)
		dev = append(dev, slices.Repeat([]int32{page}, n.dev)...)
	}
	dev = append(dev, others[:devOnly]...)
	others = others[devOnly:]
	train = append(train, others...)
	asked := append(designed, others...)
	shuffle(r, asked)
	popular := func() int32 { return asked[min(r.Below(len(asked)), r.Below(len(asked)))] }
	for len(train) < cfg.TrainQuestions {
		train = append(train, popular())
	}
	for len(dev) < cfg.DevQuestions {
		dev = append(dev, popular())
	}
	train, dev = train[:cfg.TrainQuestions], dev[:cfg.DevQuestions]
	for _, page := range slices.Concat(train, dev) {
		p.questions[page]++
	}
	shuffle(r, train)
	shuffle(r, dev)
	seen := make([]int32, cfg.Pages)
	p.train = p.records(train, seen, 0)
	p.dev = p.records(dev, seen, len(train))
	return p
}

func (p *plan) records(pages, seen []int32, first int) []record {
	list := make([]record, len(pages))
	for i, page := range pages {
		ordinal := seen[page]
		seen[page]++
		rec := record{page: page, ordinal: ordinal, index: int32(first + i)}
		rec.look = p.look(p.page(int(page)), rec)
		list[i] = rec
	}
	return list
}

// look decides the snapshot of a record. The first records of a page take its revisions in turn, so that a design shows as
// soon as it has the records it needs.
func (p *plan) look(pg *page, rec record) look {
	r := newRNG(uint64(p.cfg.Seed), forRecord, uint64(rec.index))
	l := look{revision: uint8(int(rec.ordinal) % pg.revisions)}
	if int(rec.ordinal) >= pg.revisions {
		l.revision = uint8(r.Below(pg.revisions))
	}
	if pg.volatile != nowhere {
		l.render = uint8(r.Below(2))
	}
	if r.chance(10) {
		l.noise |= lowerSite
	}
	// Noise must not turn one twin's heading into the other's.
	if r.chance(8) && pg.design != caseTwin {
		l.noise |= headingNoise
	}
	return l
}

// where is the place of a difference in a page: within the 4,000 characters that Text4K compares, or after them.
type where uint8

const (
	early where = iota
	late
	nowhere
)

type page struct {
	place
	cfg       Config
	index     int
	article   *article
	key       string // the invented word of its titles
	seed      uint64 // of its words
	revisions int
	volatile  where
	edits     [maxRevisions][2]uint8 // edits so far, by revision and place
}

func (p *plan) page(index int) *page {
	pg := &page{place: p.cfg.place(index), cfg: p.cfg, index: index, seed: mix(uint64(p.cfg.Seed), forBody, uint64(index))}
	pg.key = keyword(uint64(p.cfg.Seed), pg.first)
	r := newRNG(uint64(p.cfg.Seed), forPage, uint64(index))
	all := articles().short
	if p.cfg.Whole {
		all = articles().full
		if r.chance(60) {
			all = all[:3] // for the mean size of real records
		}
	}
	pg.article = pick(r, all)
	long := len(pg.article.Edited) > 2
	pg.revisions = min(maxRevisions, max(needs[pg.design].revisions, 1+r.Below(max(1, int(p.questions[index])))))
	for i := 1; i < pg.revisions; i++ {
		at := early
		if long && r.chance(50) {
			at = late
		}
		pg.edits[i] = pg.edits[i-1]
		pg.edits[i][at]++
	}
	pg.volatile = nowhere
	switch {
	case r.chance(12):
		pg.volatile = early
	case long && r.chance(40):
		pg.volatile = late
	}
	return pg
}

// variant is the number of a revision's title.
func (p *page) variant(revision uint8) uint64 {
	if revision > 0 && (p.design == renamed || p.design == titleGiver) {
		return 1
	}
	return 0
}

// missing reports whether the dump lacks the revision.
func (p *page) missing(revision int) bool {
	return p.design == unresolved || p.design == halfResolved && revision == p.revisions-1
}
