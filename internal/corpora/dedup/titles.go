package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/lists"
)

// Titles compares a title-like operator with page identity (section "Qualitative Analysis of NQ320K"). Only resolved pages
// count as evidence.
//
// A page is fragmented if its records, of both splits, have at least two keys; a key collides if its records have at least
// two pages. Title keys are derived differently in train and dev, so a page may be fragmented without a rename; with nci_h1
// instead of title only renames remain.
type Titles struct {
	Grouping *Grouping

	Fragmented []Fragment  // by records, most first, then by page
	Colliding  []Collision // by records, most first, then by key
}

// Fragment is one page under several title keys.
type Fragment struct {
	PageID  uint64  `json:"page_id"`
	Records int     `json:"records"`
	Names   []Named `json:"names"` // by first occurrence, one per key
}

// Collision is one title key over several pages.
type Collision struct {
	Doc     int32   `json:"doc"`
	Key     string  `json:"key"`
	Records int     `json:"records"` // resolved ones
	Names   []Named `json:"names"`   // by first occurrence, one per page
}

// Named is one side of a Fragment or Collision: the shown title, revision and page of its first record.
type Named struct {
	Title  string `json:"title"`
	Key    string `json:"key"`
	PageID uint64 `json:"page_id"`
	OldID  uint64 `json:"oldid"`
	Record int32  `json:"record"`
}

// ErrNoPages is returned where diagnostics need pages and the pass had none.
var ErrNoPages = errors.New("the records have no pages: group with Sources.PageID")

// DiagnoseTitles compares g's keys with the pages of its records.
func DiagnoseTitles(g *Grouping) (*Titles, error) {
	if !g.Records.paged && len(g.docOf) > 0 {
		return nil, ErrNoPages
	}
	type pair struct {
		page uint64
		doc  int32
	}
	seen := map[pair]bool{}
	byPage := map[uint64][]Named{}
	byDoc := make([][]Named, len(g.docs))
	pageRecords := map[uint64]int{}
	docRecords := make([]int, len(g.docs))
	for i, doc := range g.docOf {
		page := g.Records.PageID(i)
		if page == 0 {
			continue
		}
		pageRecords[page]++
		docRecords[doc]++
		if p := (pair{page, doc}); !seen[p] {
			seen[p] = true
			r := g.Records.At(i)
			n := Named{Title: r.Title, Key: g.KeyOf(doc), PageID: page, OldID: r.OldID, Record: int32(i)}
			byPage[page] = append(byPage[page], n)
			byDoc[doc] = append(byDoc[doc], n)
		}
	}
	t := &Titles{Grouping: g}
	for page, names := range byPage {
		if len(names) > 1 {
			t.Fragmented = append(t.Fragmented, Fragment{PageID: page, Records: pageRecords[page], Names: names})
		}
	}
	for doc, names := range byDoc {
		if len(names) > 1 {
			t.Colliding = append(t.Colliding, Collision{Doc: int32(doc), Key: g.KeyOf(int32(doc)), Records: docRecords[doc], Names: names})
		}
	}
	slices.SortFunc(t.Fragmented, func(a, b Fragment) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.PageID, b.PageID))
	})
	slices.SortFunc(t.Colliding, func(a, b Collision) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Key, b.Key))
	})
	return t, g.Records.Err()
}

// CollidingPages is the number of distinct pages in collisions, the paper's "93 PageIDs".
func (t *Titles) CollidingPages() int {
	pages := map[uint64]bool{}
	for _, c := range t.Colliding {
		for _, n := range c.Names {
			pages[n.PageID] = true
		}
	}
	return len(pages)
}

// Affected counts the queries of a split that title grouping treats differently from page grouping.
type Affected struct {
	Queries int     `json:"queries"`                // page fragmented, or key colliding
	Of      int     `json:"of"`                     // all records of the split
	Percent float64 `json:"percent" unit:"percent"` // 0 for an empty split
}

// Affected counts train and dev. A record without a page is affected if its key collides.
func (t *Titles) Affected() map[nq.Split]Affected {
	r, queries, all := t.Grouping.Records, map[nq.Split]int{}, map[nq.Split]Affected{}
	for i, is := range t.AffectedRecords() {
		if is {
			queries[r.Split(i)]++
		}
	}
	for _, split := range r.splits {
		n, of := queries[split], r.Count(split)
		all[split] = Affected{n, of, percent(n, of)}
	}
	return all
}

// AffectedRecords reports, for each record, whether Affected counts it.
func (t *Titles) AffectedRecords() []bool {
	g := t.Grouping
	fragmented := lists.Set(lists.Map(t.Fragmented, func(f Fragment) uint64 { return f.PageID }))
	colliding := lists.Set(lists.Map(t.Colliding, func(c Collision) int32 { return c.Doc }))
	affected := make([]bool, len(g.docOf))
	for i, doc := range g.docOf {
		affected[i] = fragmented[g.Records.PageID(i)] || colliding[doc]
	}
	return affected
}

// Fragment returns the fragmented page that one of its shown titles names.
func (t *Titles) Fragment(title string) (Fragment, error) {
	return one(t.Fragmented, func(f Fragment) bool { return hasTitle(f.Names, title) },
		"no fragmented page is titled %q (%d are fragmented)", title, len(t.Fragmented))
}

// Collision returns the colliding key that one of its shown titles names.
func (t *Titles) Collision(title string) (Collision, error) {
	return one(t.Colliding, func(c Collision) bool { return hasTitle(c.Names, title) }, "no title key collides for %q (%d collide)", title, len(t.Colliding))
}

// one returns the first element that is accepts, or the given error.
func one[T any](list []T, is func(T) bool, format string, args ...any) (found T, err error) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], nil
	}
	return found, fmt.Errorf(format, args...)
}

func hasTitle(names []Named, title string) bool {
	return slices.ContainsFunc(names, func(n Named) bool { return n.Title == title })
}
