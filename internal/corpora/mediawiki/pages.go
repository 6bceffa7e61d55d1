package mediawiki

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// batch is how many revisions one request may name: the API's limit for those who are nobody
// special there.
const batch = 50

// Answers are the pages of revisions, by revision.
type Answers struct {
	Pages    []wikipedia.Entry `json:"pages"`
	Missing  []uint64          `json:"missing"` // revisions that the wiki does not have (badrevids): of deleted pages, mostly
	Requests int64             `json:"-"`       // sent by this call
	Again    int64             `json:"-"`       // of these, those that repeated another
}

// add takes a part of the answers.
func (a *Answers) add(more Answers) {
	a.Pages, a.Missing = append(a.Pages, more.Pages...), append(a.Missing, more.Missing...)
}

// Pages asks for the pages of revisions, each once and in any order. What an earlier call for
// the same revisions has kept in the client's file is not asked again. Errors that trying again
// later may mend are no *RefusedError.
func (c *Client) Pages(ctx context.Context, revisions []uint64) (all Answers, err error) {
	revisions = slices.Compact(slices.Sorted(slices.Values(revisions)))
	if err := c.CheckContact(); err != nil {
		return all, err
	}
	kept, asked, err := openKept(c.Kept, c.question(revisions))
	if err != nil {
		return all, err
	}
	defer kept.Close()
	all = asked
	known := map[uint64]bool{}
	for _, e := range all.Pages {
		known[e.OldID] = true
	}
	for _, id := range all.Missing {
		known[id] = true
	}
	left := slices.DeleteFunc(slices.Clone(revisions), func(id uint64) bool { return known[id] })
	for part := range slices.Chunk(left, batch) {
		c.progress(len(all.Pages)+len(all.Missing), len(revisions))
		got, err := c.ask(ctx, part)
		if err == nil {
			err = kept.add(got)
		}
		if err != nil {
			return all, err
		}
		all.add(got)
	}
	c.progress(len(revisions), len(revisions))
	slices.SortFunc(all.Pages, func(a, b wikipedia.Entry) int { return cmp.Compare(a.OldID, b.OldID) })
	slices.Sort(all.Missing)
	all.Requests, all.Again = c.requests, c.again
	return all, nil
}

func (c *Client) progress(done, total int) {
	if c.Progress != nil {
		c.Progress(int64(done), int64(total))
	}
}

// pagesOf are the pages that an answer has of the revisions that were asked for: of each, its
// page, or that there is none.
func pagesOf(q *query, asked []uint64) (a Answers, err error) {
	said := map[uint64]uint64{} // pages by revision; 0: none
	say := func(id, page uint64) error {
		if _, found := slices.BinarySearch(asked, id); !found {
			return refused("it speaks of revision %d, which was not asked for", id)
		}
		if was, twice := said[id]; twice && was != page {
			return refused("it gives revision %d two pages, %d and %d", id, was, page)
		}
		said[id] = page
		return nil
	}
	for _, p := range q.Pages {
		for _, r := range p.Revisions {
			if p.PageID == 0 || p.Title == "" {
				return a, refused("it gives revision %d a page without a number or title", r.ID)
			}
			if err := say(r.ID, p.PageID); err != nil {
				return a, err
			}
			a.Pages = append(a.Pages, wikipedia.Entry{OldID: r.ID, PageID: p.PageID, Title: p.Title, NS: p.NS, Redirect: p.Redirect})
		}
	}
	for _, r := range q.Bad {
		if err := say(r.ID, 0); err != nil {
			return a, err
		}
		a.Missing = append(a.Missing, r.ID)
	}
	for _, id := range asked {
		if _, ok := said[id]; !ok {
			return a, fmt.Errorf("it says nothing of revision %d", id)
		}
	}
	return a, nil
}
