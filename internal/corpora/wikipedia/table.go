package wikipedia

import (
	"cmp"
	"fmt"
	"slices"
)

// Entry says which page a revision belongs to.
type Entry struct {
	OldID    uint64 `json:"oldid"`
	PageID   uint64 `json:"page_id"`
	Title    string `json:"title,omitempty"`    // of the page at the time of the dump
	NS       int32  `json:"ns"`                 // NSUnknown if the source does not say
	Redirect bool   `json:"redirect,omitempty"` // the page was a redirect at that time
	Target   string `json:"target,omitempty"`   // of the redirect; "" in old schemas
}

// NSUnknown stands for a namespace that neither the page nor the header gives.
const NSUnknown = -1

// Table maps revisions to pages, sorted by OldID, each once.
type Table struct {
	Repeated int // entries dropped because another had their revision
	entries  []Entry
}

// NewTable sorts entries in place, drops and counts repeats, and refuses a revision with two pages.
func NewTable(entries []Entry) (*Table, error) {
	slices.SortFunc(entries, compareEntries)
	for i := 1; i < len(entries); i++ {
		if a, b := entries[i-1], entries[i]; a.OldID == b.OldID && a.PageID != b.PageID {
			return nil, fmt.Errorf("revision %d belongs to page %d and to page %d", b.OldID, a.PageID, b.PageID)
		}
	}
	kept := slices.CompactFunc(entries, func(a, b Entry) bool { return a.OldID == b.OldID })
	return &Table{len(entries) - len(kept), kept}, nil
}

// compareEntries orders by revision, then so that the result does not depend on the order of the parts.
func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.OldID, b.OldID), cmp.Compare(a.PageID, b.PageID),
		cmp.Compare(b.Title, a.Title), cmp.Compare(b.NS, a.NS), cmp.Compare(b.Target, a.Target))
}

func MergeTables(tables ...*Table) (*Table, error) {
	var all []Entry
	repeated := 0
	for _, t := range tables {
		all = append(all, t.entries...)
		repeated += t.Repeated
	}
	t, err := NewTable(all)
	if err != nil {
		return nil, err
	}
	t.Repeated += repeated
	return t, nil
}

func (t *Table) Len() int { return len(t.entries) }

func (t *Table) Lookup(oldID uint64) (Entry, bool) {
	i, found := slices.BinarySearchFunc(t.entries, oldID, func(e Entry, id uint64) int { return cmp.Compare(e.OldID, id) })
	if !found {
		return Entry{}, false
	}
	return t.entries[i], true
}
