package synth

// design is what a page is to show. It decides the titles of its revisions and which revisions the dump lacks.
type design uint8

const (
	plain        design = iota
	renamed             // the title changes between revisions
	caseTwin            // titles of three pages differ in case only
	accentTwin          // titles of two pages differ in an accent only
	unknownTwin         // titles of two pages differ in a character that BERT does not know
	titleGiver          // a page that was renamed and gave its title ...
	titleTaker          // ... to another page
	unresolved          // the dump has no revision of the page
	halfResolved        // the dump lacks the page's last revision
	dashed              // an en dash in the title, which NQ stores as "--"
	quoted              // quotation marks in the title, which NQ stores as `` and ''
	designCount         //
)

// group is a run of pages that belong together.
type group struct {
	design design
	next   design // of the second page, where it differs
	pages  int
}

// blockPages is the length of the pattern in which designed pages recur; the rest of a block is plain.
const blockPages = 60

var groups = []group{
	{design: renamed, pages: 1},
	{design: renamed, pages: 1},
	{design: caseTwin, pages: 3},
	{design: accentTwin, pages: 2},
	{design: unknownTwin, pages: 2},
	{design: titleGiver, next: titleTaker, pages: 2},
	{design: unresolved, pages: 1},
	{design: halfResolved, pages: 1},
	{design: dashed, pages: 1},
	{design: dashed, pages: 1},
	{design: quoted, pages: 1},
}

// needs are the records that a design needs to show.
var needs = [designCount]struct{ train, dev, revisions int }{
	plain:        {1, 0, 1},
	renamed:      {2, 1, 2},
	caseTwin:     {1, 1, 1},
	accentTwin:   {1, 1, 1},
	unknownTwin:  {1, 1, 1},
	titleGiver:   {2, 0, 2},
	titleTaker:   {1, 1, 1},
	unresolved:   {1, 1, 1},
	halfResolved: {2, 1, 2},
	dashed:       {1, 1, 1},
	quoted:       {1, 1, 1},
}

// place is the place of a page in the pattern.
type place struct {
	design design
	first  int // index of the first page of its group
	part   int // index within the group
}

func (c Config) place(index int) place {
	single := place{design: plain, first: index}
	slot := index % blockPages
	for _, g := range groups {
		if slot >= g.pages {
			slot -= g.pages
			continue
		}
		first := index - slot
		if first+g.pages > c.Pages {
			return single // the group is cut off
		}
		p := place{design: g.design, first: first, part: slot}
		if g.next != plain && slot > 0 {
			p.design = g.next
		}
		return p
	}
	return single
}
