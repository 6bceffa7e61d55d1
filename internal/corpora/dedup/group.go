package dedup

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/spool"
)

// Grouper groups a stream of headers under any number of operators in one pass.
//
// Keys are compared by their SHA-256, as stored files are: no two strings with the same sum are known. Records and sums are
// on disk; memory is 4 bytes a record and 12 a document of each Grouping that is kept.
type Grouper struct {
	d       derived
	records *Records
	keys    []Key
	sums    []spool.List // of each key, sha256.Size bytes a record
	ids     spool.List   // example id and split of each record, padded to as many bytes
	ended   bool
}

// NewGrouper prepares a pass. Names may not repeat. scratch creates a folder for larger data, used as long as a Grouping.
func NewGrouper(scratch func() (string, error), keys []Key, o Options, s Sources) (*Grouper, error) {
	if len(keys) == 0 {
		return nil, errors.New("no deduplication key is given")
	}
	o = o.withDefaults()
	on := spool.New(sync.OnceValues(scratch))
	g := &Grouper{d: derived{s: &s, o: &o}, keys: keys, ids: on,
		records: &Records{splits: o.RecordOrder.Splits(), paged: s.PageID != nil, lights: on, texts: on}}
	for i, k := range keys {
		if err := s.check(k, o); err != nil {
			return nil, err
		}
		for _, other := range keys[:i] {
			if other.Name == k.Name {
				return nil, fmt.Errorf("deduplication key %s is given twice", k.Name)
			}
		}
		g.sums = append(g.sums, on)
	}
	return g, nil
}

// Add takes the next record in Options.RecordOrder, which numbers the documents. It keeps no memory of h. After an error the
// Grouper must not be used.
func (g *Grouper) Add(h *nq.Header) error {
	if err := g.checkOrder(h); err != nil {
		return err
	}
	g.d.reset(h)
	r := g.records
	l := light{exampleID: h.ExampleID, oldid: g.d.oldid, pageID: g.d.page, prefix: h.Text4KCased}
	var err error
	if l.rank, err = g.rank(h, l.oldid); err != nil {
		return err
	}
	r.row = r.row[:0]
	// The title that is shown is document_title, or the title in the URL, or the heading.
	for _, s := range [...]string{h.Question, h.URL, cmp.Or(g.d.named(), h.H1)} {
		r.row = append(binary.AppendUvarint(r.row, uint64(len(s))), s...)
	}
	for i := range g.keys {
		key, err := g.d.appendKey(&g.keys[i])
		if err != nil {
			return err
		}
		r.row = append(binary.AppendUvarint(r.row, uint64(len(key))), key...)
		sum := sha256.Sum256(key)
		g.sums[i].Write(sum[:])
	}
	var id [sha256.Size]byte
	binary.LittleEndian.PutUint64(id[:], uint64(h.ExampleID))
	copy(id[8:], h.Split)
	g.ids.Write(id[:])
	r.add(l, h.Split == r.splits[0])
	return nil
}

func (g *Grouper) checkOrder(h *nq.Header) error {
	switch {
	case h.Split != nq.Train && h.Split != nq.Dev:
		return fmt.Errorf("example %d is of split %q; grouping knows train and dev", h.ExampleID, h.Split)
	case h.Split == g.records.splits[0] && g.records.Count(g.records.splits[1]) > 0:
		return fmt.Errorf("%s example %d comes after %s records; documents are numbered %s",
			h.Split, h.ExampleID, g.records.splits[1], g.d.o.RecordOrder)
	case g.records.Len() == math.MaxInt32:
		return fmt.Errorf("more than %d records", math.MaxInt32)
	}
	return nil
}

// rank returns a number that is greatest for the record that Options.Representative prefers, equal for ties.
func (g *Grouper) rank(h *nq.Header, oldid uint64) (uint64, error) {
	switch g.d.o.Representative {
	case Last:
		return uint64(g.records.Len()), nil
	case NewestOldID:
		return oldid, nil
	case OldestOldID:
		return -oldid, nil // 0, no revision, stays the least
	case LongestText:
		t, ok := g.d.s.Text(h)
		if !ok {
			return 0, &RecordError{Key: g.keys[0].Name, ExampleID: h.ExampleID, Split: h.Split, URL: h.URL, Err: ErrNoText}
		}
		return uint64(t.Length), nil
	}
	return 0, nil
}

// ErrRepeated is wrapped by the error about an example that two records have.
var ErrRepeated = errors.New("occurs twice; remove one of the two files that hold it")

// end checks that no record repeats another, once all are added.
func (g *Grouper) end() error {
	if g.ended {
		return nil
	}
	errs := []error{g.records.lights.End(), g.records.texts.End(), g.ids.End()}
	for i := range g.sums {
		errs = append(errs, g.sums[i].End())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	firsts, err := firstOf(&g.ids, g.records.Len())
	if err != nil {
		return err
	}
	for i, first := range firsts {
		if int(first) != i {
			return fmt.Errorf("%s example %d %w", g.records.Split(i), g.records.light(i).exampleID, ErrRepeated)
		}
	}
	g.ids, g.ended = spool.List{}, true
	return g.records.Err()
}

// Grouping returns the result of an operator, by its place in NewGrouper's keys. No record may be added after it.
func (g *Grouper) Grouping(key int) (*Grouping, error) {
	if err := g.end(); err != nil {
		return nil, err
	}
	r := g.records
	p := &Grouping{Key: g.keys[key], Options: *g.d.o, Records: r, key: key}
	var err error
	if p.docOf, err = firstOf(&g.sums[key], r.Len()); err != nil {
		return nil, err
	}
	n := 0
	for i, first := range p.docOf {
		if int(first) == i {
			n++
		}
	}
	p.docs = make([]members, 0, n)
	for i, first := range p.docOf {
		doc := int32(len(p.docs))
		if int(first) == i {
			p.docs = append(p.docs, members{record: first})
		} else {
			doc = p.docOf[first]
		}
		p.docOf[i] = doc
		if m := &p.docs[doc]; r.Split(i) == nq.Train {
			m.train++
		} else {
			m.dev++
		}
	}
	if p.Options.Representative != First {
		ranks := make([]uint64, len(p.docs))
		for i, doc := range p.docOf {
			if rank := r.light(i).rank; rank > ranks[doc] {
				p.docs[doc].record, ranks[doc] = int32(i), rank
			}
		}
	}
	return p, r.Err()
}

// Groupings returns the results of all operators, in the order of NewGrouper's keys.
func (g *Grouper) Groupings() (all []*Grouping, err error) {
	for i := range g.keys {
		p, err := g.Grouping(i)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// firstOf holds about tableSums sums in a table, of at most mostTables, and reads all sums once for each.
const (
	tableSums  = 1 << 16
	mostTables = 16
	sumsAhead  = 1 << 15 // bytes
)

// firstOf returns, for each of n sums, the place of the first equal sum. To save memory, a pass looks at a part of them.
func firstOf(sums *spool.List, n int) ([]int32, error) {
	firsts := make([]int32, n)
	tables := uint32(min(n/tableSums+1, mostTables))
	table := map[[sha256.Size]byte]int32{}
	for part := range tables {
		clear(table)
		for i := range firsts {
			sum := sums.Read(int64(i)*sha256.Size, sha256.Size, sumsAhead)
			if tables > 1 && binary.LittleEndian.Uint32(sum)%tables != part {
				continue
			}
			first, ok := table[[sha256.Size]byte(sum)]
			if !ok {
				first = int32(i)
				table[[sha256.Size]byte(sum)] = first
			}
			firsts[i] = first
		}
	}
	return firsts, sums.Err()
}
