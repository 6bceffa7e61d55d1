package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/lists"
)

// Grouper groups a stream of headers under any number of operators in one pass.
//
// Keys are compared as whole strings, so there is no hash to collide. Memory is
// per record about 60 bytes, its question and, once, its URL and title; per
// operator 4 bytes a record and about 35 bytes and the key a document.
type Grouper struct {
	d       derived
	records *Records
	groups  []*group
	seen    map[recordID]struct{}
	fields  fields
}

// recordID is what makes an example unique: the two splits number theirs apart.
type recordID struct {
	dev bool
	id  int64
}

// group is one operator's Grouping while it grows.
type group struct {
	*Grouping
	longest []int            // LongestText: length of each representative's text
	firstOf [nFields][]int32 // document of each field value, plus one; 0: not derived yet
}

// NewGrouper prepares a pass. Names may not repeat.
func NewGrouper(keys []Key, o Options, s Sources) (*Grouper, error) {
	if len(keys) == 0 {
		return nil, errors.New("no deduplication key is given")
	}
	o = o.withDefaults()
	g := &Grouper{
		records: &Records{splits: o.RecordOrder.Splits(), paged: s.PageID != nil},
		seen:    map[recordID]struct{}{},
	}
	g.d = derived{s: &s, o: &o}
	for i, k := range keys {
		if err := s.check(k, o); err != nil {
			return nil, err
		}
		for _, other := range keys[:i] {
			if other.Name == k.Name {
				return nil, fmt.Errorf("deduplication key %s is given twice", k.Name)
			}
		}
		g.fields.use(k, o)
		g.groups = append(g.groups, &group{Grouping: &Grouping{Key: k, Options: o, Records: g.records}})
	}
	return g, nil
}

// Add takes the next record, in the order of Options.RecordOrder, which numbers the
// documents. It keeps nothing of h but copies. After an error the Grouper is of no
// more use.
func (g *Grouper) Add(h *nq.Header) error {
	if err := g.checkOrder(h); err != nil {
		return err
	}
	g.d.reset(h)
	oldid, page := g.d.locate()
	n := int32(g.records.Len())
	url := g.records.add(h, g.title(h), oldid, page)
	g.fields.set(&g.d, url)
	for _, p := range g.groups {
		if err := g.add(p, n, h); err != nil {
			return err
		}
	}
	return nil
}

func (g *Grouper) checkOrder(h *nq.Header) error {
	switch {
	case h.Split != nq.Train && h.Split != nq.Dev:
		return fmt.Errorf("example %d is of split %q; grouping knows train and dev", h.ExampleID, h.Split)
	case h.Split == g.records.splits[0] && g.records.count(g.records.splits[1]) > 0:
		return fmt.Errorf("%s example %d comes after %s records; documents are numbered %s",
			h.Split, h.ExampleID, g.records.splits[1], g.d.o.RecordOrder)
	case g.records.Len() == math.MaxInt32:
		return fmt.Errorf("more than %d records", math.MaxInt32)
	}
	id := recordID{h.Split == nq.Dev, h.ExampleID}
	if _, ok := g.seen[id]; ok {
		return fmt.Errorf("%s example %d occurs twice; remove one of the two files that hold it", h.Split, h.ExampleID)
	}
	g.seen[id] = struct{}{}
	return nil
}

// title is how a record's page is shown: document_title, in the simplified format
// the title in the URL, else the heading.
func (g *Grouper) title(h *nq.Header) string {
	t := h.Title
	if t == "" {
		t, _ = g.d.readTitle()
	}
	return cmp.Or(t, h.H1)
}

func (g *Grouper) add(p *group, n int32, h *nq.Header) error {
	doc, isNew, err := g.document(p, h.Split)
	if err != nil {
		return err
	}
	if isNew {
		p.docs = append(p.docs, members{record: n})
	}
	p.docOf = append(p.docOf, doc)
	m := &p.docs[doc]
	if h.Split == nq.Train {
		m.train++
	} else {
		m.dev++
	}
	better, err := g.better(p, doc, isNew, n, h)
	if better {
		m.record = n
	}
	return err
}

// document finds the record's document, by the field that the key depends on if
// its value has been seen.
func (g *Grouper) document(p *group, s nq.Split) (doc int32, isNew bool, err error) {
	known := g.fields.entry(p.firstOf[:], p.Key.field(s, p.Options))
	if known != nil && *known > 0 {
		return *known - 1, false, nil
	}
	key, err := g.d.appendKey(&p.Key)
	if err != nil {
		return 0, false, err
	}
	doc, isNew = p.keys.Add(string(key))
	if known != nil {
		*known = doc + 1
	}
	return doc, isNew, nil
}

// better reports whether record n is to represent doc instead of its present record.
func (g *Grouper) better(p *group, doc int32, isNew bool, n int32, h *nq.Header) (bool, error) {
	old, this := g.records.OldID(int(p.docs[doc].record)), g.records.OldID(int(n))
	switch p.Options.Representative {
	case Last:
		return true, nil
	case NewestOldID:
		return this > old, nil
	case OldestOldID:
		return this != 0 && (old == 0 || this < old), nil
	case LongestText:
		t, ok := g.d.s.Text(h)
		if !ok {
			return false, &RecordError{Key: p.Key.Name, ExampleID: h.ExampleID, Split: h.Split, URL: h.URL, Err: ErrNoText}
		}
		if isNew {
			p.longest = append(p.longest, t.Length)
			return true, nil
		}
		if t.Length <= p.longest[doc] {
			return false, nil
		}
		p.longest[doc] = t.Length
		return true, nil
	}
	return false, nil
}

// Groupings returns the result, one per operator in the order they were given.
// No record may be added after it.
func (g *Grouper) Groupings() []*Grouping {
	return lists.Map(g.groups, func(p *group) *Grouping { return p.Grouping })
}
