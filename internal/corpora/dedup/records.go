package dedup

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/spool"
)

// Record is what grouping and its diagnostics keep of one header.
type Record struct {
	ExampleID int64
	Split     nq.Split
	Question  string
	URL       string // as stored
	Title     string // shown title: document_title, else the URL's, else the heading
	OldID     uint64 // revision; 0: the URL has none
	PageID    uint64 // 0: not resolved, or no resolution given
}

// Records holds a pass's records in order, one split after the other, on disk beyond small buffers.
type Records struct {
	splits [2]nq.Split
	paged  bool // the pass had Sources.PageID
	n      int
	first  int        // records of the first split
	lights spool.List // lightSize bytes a record
	texts  spool.List // each record's question, URL, title and keys, with a length before each
	row    []byte
}

// light is a Record without its strings.
type light struct {
	exampleID     int64
	oldid, pageID uint64
	rank          uint64   // the first record of the greatest represents a document
	texts, size   uint64   // offset and size of its strings
	prefix        [16]byte // nq.Header.Text4KCased: tells texts of one revision apart
}

const lightSize = 6*8 + 16

// ahead is how many bytes are read at once: the next records are often wanted soon.
const ahead = 1 << 13

func (r *Records) add(l light, first bool) {
	l.texts, l.size = uint64(r.texts.Size()), uint64(len(r.row))
	r.texts.Write(r.row)
	b := r.row[:0]
	for _, v := range [...]uint64{uint64(l.exampleID), l.oldid, l.pageID, l.rank, l.texts, l.size} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	r.row = append(b, l.prefix[:]...)
	r.lights.Write(r.row)
	r.n++
	if first {
		r.first++
	}
}

func (r *Records) light(i int) (l light) {
	b := r.lights.Read(int64(i)*lightSize, lightSize, ahead)
	at := func(n int) uint64 { return binary.LittleEndian.Uint64(b[8*n:]) }
	l = light{int64(at(0)), at(1), at(2), at(3), at(4), at(5), [16]byte(b[48:])}
	return l
}

// strings reads the first strings of a record.
func (r *Records) strings(l light, n int) []string {
	out := make([]string, n)
	b := r.texts.Read(int64(l.texts), int(l.size), ahead)
	for i := range out {
		size, w := binary.Uvarint(b)
		if w <= 0 || size > uint64(len(b)-w) {
			return out // after an error, which Err gives
		}
		out[i], b = string(b[w:][:size]), b[w+int(size):]
	}
	return out
}

// Err is the first error of writing records to disk or reading them back; records read after it are empty.
func (r *Records) Err() error { return cmp.Or(r.lights.Err(), r.texts.Err()) }

// Len and Count count records: all, or a split's.
func (r *Records) Len() int { return r.n }

func (r *Records) Count(s nq.Split) int {
	if s == r.splits[0] {
		return r.first
	}
	return r.n - r.first
}

// At returns record i.
func (r *Records) At(i int) Record {
	l := r.light(i)
	return r.record(i, l, r.strings(l, 3))
}

func (r *Records) record(i int, l light, s []string) Record {
	return Record{ExampleID: l.exampleID, Split: r.Split(i), Question: s[0], URL: s[1], Title: s[2], OldID: l.oldid, PageID: l.pageID}
}

// Split returns the split of record i.
func (r *Records) Split(i int) nq.Split {
	if i < r.first {
		return r.splits[0]
	}
	return r.splits[1]
}

// PageID returns the page of record i, 0 where it is not resolved.
func (r *Records) PageID(i int) uint64 { return r.light(i).pageID }

// OldID returns the revision of record i, 0 where its URL has none.
func (r *Records) OldID(i int) uint64 { return r.light(i).oldid }

// Resolution says how many revisions and records have a page (appendix "PageID Resolution").
type Resolution struct {
	Revisions         int     `json:"revisions"` // distinct revision ids
	Resolved          int     `json:"resolved_revisions"`
	ResolvedPercent   float64 `json:"resolved_percent" unit:"percent"` // of the revision ids: the paper's 99.95 %
	Records           int     `json:"records"`
	UnresolvedRecords int     `json:"unresolved_records"` // records that fall back, with and without revision id
	NoRevision        int     `json:"records_without_revision"`
}

// Resolution counts over all records; without Sources.PageID all are unresolved.
func (r *Records) Resolution() Resolution {
	res := Resolution{Records: r.Len()}
	var all, resolved []uint64
	for i := range r.n {
		l := r.light(i)
		if l.pageID == 0 {
			res.UnresolvedRecords++
		}
		if l.oldid == 0 {
			res.NoRevision++
			continue
		}
		all = append(all, l.oldid)
		if l.pageID != 0 {
			resolved = append(resolved, l.oldid)
		}
	}
	res.Revisions, res.Resolved = distinct(all), distinct(resolved)
	res.ResolvedPercent = percent(res.Resolved, res.Revisions)
	return res
}

// distinct sorts numbers and counts the different ones.
func distinct(all []uint64) int {
	slices.Sort(all)
	return len(slices.Compact(all))
}

func (r *Records) oldIDs() []uint64 { return lists.Map(lists.Places(r.n), r.OldID) }
