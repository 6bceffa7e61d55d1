package wikipedia

import (
	"cmp"
	"slices"
	"strconv"
)

// PageRef is the page of one record: resolved, or a fallback by URL title.
type PageRef struct {
	OldID    uint64 `json:"oldid,omitempty"`
	PageID   uint64 `json:"page_id,omitempty"`  // 0: fallback
	Title    string `json:"title"`              // of the table if it has one, else of the URL
	Redirect bool   `json:"redirect,omitempty"` // the page was a redirect when the dump was made
}

// Resolved reports whether the revision was found.
func (p PageRef) Resolved() bool { return p.PageID != 0 }

// Key is the grouping key: the page id in decimal or, for a fallback, "t:" and the
// URL title. A fallback never meets a resolved page (paper, "PageID Resolution").
func (p PageRef) Key() string {
	if p.Resolved() {
		return strconv.FormatUint(p.PageID, 10)
	}
	return "t:" + p.Title
}

// Why a record fell back.
const (
	NotInTable = "the revision is not in the table"
	NoRevision = "the URL names no revision"
)

// Unresolved is one line of the audit: the records that fell back together.
type Unresolved struct {
	OldID      uint64  `json:"oldid,omitempty"`
	Title      string  `json:"title"`
	Reason     string  `json:"reason"`
	ExampleIDs []int64 `json:"example_ids"` // in input order
}

// ResolveStats counts what a Resolver did.
type ResolveStats struct {
	Records           int `json:"records"`
	FallbackRecords   int `json:"fallback_records"`
	Revisions         int `json:"revisions"`          // distinct oldids
	ResolvedRevisions int `json:"resolved_revisions"` // of these, in the table
	Pages             int `json:"pages"`              // distinct resolved pages
}

// Resolver resolves records one by one and keeps the audit. Its memory grows with
// distinct revisions, about 30 bytes each.
type Resolver struct {
	table     *Table
	stats     ResolveStats
	revisions map[uint64]bool // resolved?
	pages     map[uint64]struct{}
	audit     map[auditKey]*Unresolved
}

type auditKey struct {
	oldID uint64
	title string
}

// NewResolver resolves through t.
func NewResolver(t *Table) *Resolver {
	return &Resolver{table: t, revisions: map[uint64]bool{}, pages: map[uint64]struct{}{}, audit: map[auditKey]*Unresolved{}}
}

// Resolve finds the page of the record with the given id and stored URL. A record
// that cannot be resolved falls back to its URL title and is listed in Audit; an
// error (*URLError) means that the URL names neither a known revision nor a title.
func (r *Resolver) Resolve(exampleID int64, storedURL string) (PageRef, error) {
	title, hasTitle := URLTitle(storedURL)
	oldID, urlErr := OldID(storedURL)
	if urlErr == nil {
		if e, ok := r.table.Lookup(oldID); ok {
			r.stats.Records++
			r.revisions[oldID] = true
			r.pages[e.PageID] = struct{}{}
			return PageRef{OldID: oldID, PageID: e.PageID, Title: cmp.Or(e.Title, title), Redirect: e.Redirect}, nil
		}
	}
	if !hasTitle {
		return PageRef{}, &URLError{storedURL, "the URL names neither a known revision nor a title"}
	}
	r.stats.Records++
	r.stats.FallbackRecords++
	reason := NoRevision
	if urlErr == nil {
		reason = NotInTable
		r.revisions[oldID] = false
	}
	k := auditKey{oldID, title}
	if r.audit[k] == nil {
		r.audit[k] = &Unresolved{OldID: oldID, Title: title, Reason: reason}
	}
	r.audit[k].ExampleIDs = append(r.audit[k].ExampleIDs, exampleID)
	return PageRef{OldID: oldID, Title: title}, nil
}

// Stats reports the counts so far.
func (r *Resolver) Stats() ResolveStats {
	s := r.stats
	s.Revisions, s.Pages = len(r.revisions), len(r.pages)
	for _, ok := range r.revisions {
		if ok {
			s.ResolvedRevisions++
		}
	}
	return s
}

// Audit lists what fell back, by oldid and title.
func (r *Resolver) Audit() []Unresolved {
	list := make([]Unresolved, 0, len(r.audit))
	for _, u := range r.audit {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b Unresolved) int {
		return cmp.Or(cmp.Compare(a.OldID, b.OldID), cmp.Compare(a.Title, b.Title))
	})
	return list
}
