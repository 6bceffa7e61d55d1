package dedup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/lists"
)

// Snapshot names one record of a table about texts; callers with the corpus turn it into words with Contrast.
type Snapshot struct {
	ExampleID int64    `json:"example_id"`
	Split     nq.Split `json:"split"`
	OldID     uint64   `json:"oldid"`
}

// SharedTitle is a row of tab:shared-title-revision-variation: two revisions of a title key with different texts.
type SharedTitle struct {
	Title     string   `json:"title"`
	Key       string   `json:"key"`
	Revisions int      `json:"revisions"` // under the key
	Records   int      `json:"records"`
	A         Snapshot `json:"a"` // of the smaller revision id
	B         Snapshot `json:"b"`
}

// SharedTitles lists g's keys whose oldest and newest revision differ in text prefix, most records first, then by key.
func SharedTitles(g *Grouping) []SharedTitle {
	var out []SharedTitle
	oldids := g.Records.oldIDs()
	for _, members := range g.Members() {
		old, fresh := -1, -1
		for _, m := range members {
			switch i := int(m); {
			case oldids[i] == 0:
			case old < 0:
				old, fresh = i, i
			case oldids[i] < oldids[old]:
				old = i
			case oldids[i] > oldids[fresh]:
				fresh = i
			}
		}
		if old >= 0 && oldids[old] != oldids[fresh] && g.Records.light(old).prefix != g.Records.light(fresh).prefix {
			out = append(out, g.shared(members, oldids, old, fresh))
		}
	}
	slices.SortFunc(out, func(a, b SharedTitle) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// SharedTitleOf returns the row for two revisions that the caller names, as the paper does, whatever their texts.
func SharedTitleOf(g *Grouping, a, b uint64) (SharedTitle, error) {
	oldids := g.Records.oldIDs()
	i, j := slices.Index(oldids, a), slices.Index(oldids, b)
	switch {
	case i < 0:
		return SharedTitle{}, fmt.Errorf("no record has revision %d", a)
	case j < 0:
		return SharedTitle{}, fmt.Errorf("no record has revision %d", b)
	case g.docOf[i] != g.docOf[j]:
		return SharedTitle{}, fmt.Errorf("revisions %d (%s) and %d (%s) do not share a %s key",
			a, g.Records.At(i).Title, b, g.Records.At(j).Title, g.Key.Name)
	}
	return g.shared(g.Members()[g.docOf[i]], oldids, i, j), g.Records.Err()
}

// shared returns the row for a document with two of its records.
func (g *Grouping) shared(members []int32, oldids []uint64, a, b int) SharedTitle {
	revisions := lists.Filter(lists.Map(members, func(m int32) uint64 { return oldids[m] }), func(id uint64) bool { return id != 0 })
	return SharedTitle{Title: g.Records.At(a).Title, Key: g.KeyOf(g.docOf[a]), Revisions: distinct(revisions),
		Records: len(members), A: g.Records.snapshot(a), B: g.Records.snapshot(b)}
}

func (r *Records) snapshot(i int) Snapshot {
	l := r.light(i)
	return Snapshot{ExampleID: l.exampleID, Split: r.Split(i), OldID: l.oldid}
}

// Revisions counts texts by (title, oldid) (appendix "Rendered-Text Variation under a Fixed Revision"). Memory is per
// distinct text.
type Revisions struct {
	records int
	byRev   map[revision][]variant
	texts   map[[16]byte]struct{}
}

type revision struct {
	title string
	oldid uint64
}

type variant struct {
	digest  [16]byte
	first   Snapshot
	records int
}

// NewRevisions returns an empty count.
func NewRevisions() *Revisions {
	return &Revisions{byRev: map[revision][]variant{}, texts: map[[16]byte]struct{}{}}
}

// Add counts a record by title, revision (0: only by title) and the TextDigest of its uncut flattened text.
func (v *Revisions) Add(title string, s Snapshot, digest [16]byte) {
	v.records++
	v.texts[digest] = struct{}{}
	rev := revision{title, s.OldID}
	list := v.byRev[rev]
	if i := slices.IndexFunc(list, func(v variant) bool { return v.digest == digest }); i >= 0 {
		list[i].records++
		return
	}
	v.byRev[rev] = append(list, variant{digest: digest, first: s, records: 1})
}

// FixedRevision is one row of tab:fixed-revision-variation.
type FixedRevision struct {
	Title   string     `json:"title"`
	OldID   uint64     `json:"oldid"`
	Records int        `json:"records"`
	Texts   []Snapshot `json:"texts"` // first record of each distinct text, at least two, in order
}

// RevisionTexts is the summary of the appendix: 231,695 revisions, 241,247 texts.
type RevisionTexts struct {
	Records   int             `json:"records"`
	Revisions int             `json:"revisions"` // distinct (title, oldid)
	Texts     int             `json:"texts"`     // distinct texts over all records
	Varying   []FixedRevision `json:"varying"`   // by texts, most first, then records, then oldid
}

// Summary reports on the records added.
func (v *Revisions) Summary() RevisionTexts {
	s := RevisionTexts{Records: v.records, Revisions: len(v.byRev), Texts: len(v.texts)}
	for rev, list := range v.byRev {
		if len(list) < 2 {
			continue
		}
		f := FixedRevision{Title: rev.title, OldID: rev.oldid}
		for _, t := range list {
			f.Records += t.records
			f.Texts = append(f.Texts, t.first)
		}
		s.Varying = append(s.Varying, f)
	}
	slices.SortFunc(s.Varying, func(a, b FixedRevision) int {
		return cmp.Or(cmp.Compare(len(b.Texts), len(a.Texts)), cmp.Compare(b.Records, a.Records),
			cmp.Compare(a.OldID, b.OldID), cmp.Compare(a.Title, b.Title))
	})
	return s
}

// Of returns a varying revision by its id.
func (s *RevisionTexts) Of(oldid uint64) (FixedRevision, error) {
	return one(s.Varying, func(f FixedRevision) bool { return f.OldID == oldid }, "revision %d is not among the %d whose text varies", oldid, len(s.Varying))
}
