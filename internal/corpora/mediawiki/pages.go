package mediawiki

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// batch is how many revisions one request may name: the API's limit for clients without rights.
const batch = 50

// Answers are the pages of revisions, by revision.
type Answers struct {
	Pages   []wikipedia.Entry `json:"pages"`
	Missing []uint64          `json:"missing"` // revisions that the wiki does not have (badrevids): of deleted pages, mostly
}

func (a *Answers) len() int { return len(a.Pages) + len(a.Missing) }

func (a *Answers) add(more Answers) {
	a.Pages, a.Missing = append(a.Pages, more.Pages...), append(a.Missing, more.Missing...)
}

// Pages asks once for each revision's page and returns the answers sorted by revision. It does not ask for answers that the
// client's file keeps from an earlier call with the same revisions. An error is *fetch.Permanent if no retry can mend it.
func (c *Client) Pages(ctx context.Context, revisions []uint64) (all Answers, err error) {
	revisions = slices.Compact(slices.Sorted(slices.Values(revisions)))
	if err := c.CheckContact(); err != nil {
		return all, err
	}
	kept, all, err := openKept(c.Kept, fmt.Sprintf("1 %s %s %x\n", c.API, c.Wiki, sha256.Sum256([]byte(join(revisions)))))
	if err != nil {
		return all, err
	}
	defer kept.Close()
	for part := range slices.Chunk(revisions[all.len():], batch) { // answers are kept in this order
		c.progress(all.len(), len(revisions))
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
	return all, nil
}

func (c *Client) progress(done, total int) {
	if c.Progress != nil {
		c.Progress(int64(done), int64(total))
	}
}

// pagesOf returns an answer's page for each revision asked for, or that it is missing, in their order.
func pagesOf(q *query, asked []uint64) (a Answers, err error) {
	said := map[uint64]wikipedia.Entry{} // with page 0 for a missing revision
	say := func(e wikipedia.Entry) error {
		if _, found := slices.BinarySearch(asked, e.OldID); !found {
			return refused("it speaks of revision %d, which was not asked for", e.OldID)
		}
		if was, twice := said[e.OldID]; twice && was.PageID != e.PageID {
			return refused("it gives revision %d two pages, %d and %d", e.OldID, was.PageID, e.PageID)
		}
		said[e.OldID] = e
		return nil
	}
	for _, p := range q.Pages {
		for _, r := range p.Revisions {
			if p.PageID == 0 || p.Title == "" {
				return a, refused("it gives revision %d a page without a number or title", r.ID)
			}
			if err := say(wikipedia.Entry{OldID: r.ID, PageID: p.PageID, Title: p.Title, NS: p.NS, Redirect: p.Redirect}); err != nil {
				return a, err
			}
		}
	}
	for _, r := range q.Bad {
		if err := say(wikipedia.Entry{OldID: r.ID}); err != nil {
			return a, err
		}
	}
	for _, id := range asked {
		switch e, ok := said[id]; {
		case !ok:
			return a, fmt.Errorf("it says nothing of revision %d", id)
		case e.PageID == 0:
			a.Missing = append(a.Missing, id)
		default:
			a.Pages = append(a.Pages, e)
		}
	}
	return a, nil
}
