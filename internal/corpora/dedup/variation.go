package dedup

import (
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// Variation counts texts of one revision and of one title (the two appendices on variation), in one pass.
type Variation struct {
	Revisions *Revisions
	titles    *Grouper
}

// NewVariation returns an empty count. scratch creates a folder for larger data.
func NewVariation(scratch func() (string, error)) (*Variation, error) {
	key, _ := Lookup("url_title_cased") // one of keys
	titles, err := NewGrouper(scratch, []Key{key}, Options{RecordOrder: TrainFirst}, Sources{})
	return &Variation{NewRevisions(), titles}, err
}

// Add counts one record, train before dev; without a revision in its URL it counts only by title.
func (v *Variation) Add(r *nq.Record) error {
	oldid, _ := wikipedia.OldID(r.URL) // 0: none
	title, _ := wikipedia.URLTitle(r.URL)
	text := FlatText(r, 0)
	v.Revisions.Add(title, Snapshot{ExampleID: r.ExampleID, Split: r.Split, OldID: oldid}, TextDigest(text, 0, false))
	h := nq.HeaderOf(r)
	h.Text4KCased, h.Text4K = TextDigest(text, TextLimit, false), TextDigest(text, TextLimit, true)
	return v.titles.Add(&h)
}

// Titles groups the records by title, for SharedTitles, once all are added.
func (v *Variation) Titles() (*Grouping, error) { return v.titles.Grouping(0) }

// ShownTexts are the flattened texts of the records that tables show pieces of.
type ShownTexts map[nq.Key]string

func (s Snapshot) record() nq.Key { return nq.Key{Split: s.Split, ID: s.ExampleID} }

// Want asks for the texts of records; a zero Snapshot matches none.
func (t ShownTexts) Want(records ...Snapshot) {
	for _, s := range records {
		t[s.record()] = ""
	}
}

// Add keeps the text of a record that was asked for.
func (t ShownTexts) Add(r *nq.Record) {
	if _, ok := t[r.Key()]; ok {
		t[r.Key()] = FlatText(r, 0)
	}
}

// Contrast calls the function Contrast for the texts of two records.
func (t ShownTexts) Contrast(a, b Snapshot) (string, string) {
	sa, sb, _ := Contrast(t[a.record()], t[b.record()])
	return sa, sb
}
