package dedup

import "github.com/redsi/redsi/internal/corpora/nq"

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

// Records holds the records of a pass in its order: all of one split, then all of
// the other.
type Records struct {
	splits    [2]nq.Split
	light     []light
	paged     bool // the pass had Sources.PageID
	first     int  // records of the first split
	questions pool
	urls      NameTable
	titles    NameTable
}

// light is a Record without its strings.
type light struct {
	exampleID     int64
	oldid, pageID uint64
	prefix        [16]byte // nq.Header.Text4KCased: tells texts of one revision apart
	url, title    int32
}

// add keeps a header and returns the number of its URL.
func (r *Records) add(h *nq.Header, title string, oldid, page uint64) (url int32) {
	r.questions.add(h.Question)
	url, _ = r.urls.Add(h.URL)
	shown, _ := r.titles.Add(title)
	r.light = append(r.light, light{h.ExampleID, oldid, page, h.Text4KCased, url, shown})
	if h.Split == r.splits[0] {
		r.first++
	}
	return url
}

// Len, Train and Dev count records.
func (r *Records) Len() int   { return len(r.light) }
func (r *Records) Train() int { return r.count(nq.Train) }
func (r *Records) Dev() int   { return r.count(nq.Dev) }

func (r *Records) count(s nq.Split) int {
	if s == r.splits[0] {
		return r.first
	}
	return len(r.light) - r.first
}

// At returns record i.
func (r *Records) At(i int) Record {
	l := &r.light[i]
	return Record{
		ExampleID: l.exampleID, Split: r.Split(i), Question: string(r.questions.bytes(int32(i))),
		URL: r.urls.At(l.url), Title: r.titles.At(l.title), OldID: l.oldid, PageID: l.pageID,
	}
}

// Split returns the split of record i.
func (r *Records) Split(i int) nq.Split {
	if i < r.first {
		return r.splits[0]
	}
	return r.splits[1]
}

// PageID returns the page of record i, 0 where it is not resolved.
func (r *Records) PageID(i int) uint64 { return r.light[i].pageID }

// OldID returns the revision of record i, 0 where its URL has none.
func (r *Records) OldID(i int) uint64 { return r.light[i].oldid }

// Resolution says how many revisions and records have a page (appendix "PageID
// Resolution").
type Resolution struct {
	Revisions         int     `json:"revisions"` // distinct revision ids
	Resolved          int     `json:"resolved_revisions"`
	ResolvedPercent   float64 `json:"resolved_percent" unit:"percent"` // of the revision ids: the paper's 99.95 %
	Records           int     `json:"records"`
	UnresolvedRecords int     `json:"unresolved_records"` // those that fall back, with and without revision id
	NoRevision        int     `json:"records_without_revision"`
}

// Resolution counts over all records; it is all unresolved if the pass had no
// Sources.PageID.
func (r *Records) Resolution() Resolution {
	res := Resolution{Records: r.Len()}
	page := make(map[uint64]bool, r.Len())
	for i := range r.light {
		l := &r.light[i]
		if l.pageID == 0 {
			res.UnresolvedRecords++
		}
		if l.oldid == 0 {
			res.NoRevision++
			continue
		}
		page[l.oldid] = l.pageID != 0
	}
	res.Revisions = len(page)
	for _, ok := range page {
		if ok {
			res.Resolved++
		}
	}
	res.ResolvedPercent = percent(res.Resolved, res.Revisions)
	return res
}

// Unresolved lists the records without a page, which the grouping audit names.
func (r *Records) Unresolved() []int {
	var out []int
	for i := range r.light {
		if r.light[i].pageID == 0 {
			out = append(out, i)
		}
	}
	return out
}
