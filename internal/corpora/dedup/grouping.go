package dedup

import "github.com/redsi/redsi/internal/corpora/nq"

// Document is one group and the snapshot that represents it.
type Document struct {
	Doc int32  `json:"doc"` // from zero, in order of first occurrence
	Key string `json:"key"`

	ExampleID int64    `json:"example_id"` // of the representative, like the next five fields
	Split     nq.Split `json:"split"`
	URL       string   `json:"url"`
	Title     string   `json:"title"` // see Record.Title
	OldID     uint64   `json:"oldid,omitempty"`
	PageID    uint64   `json:"page_id,omitempty"`

	Train int32 `json:"train"` // records, that is queries, in it
	Dev   int32 `json:"dev"`
	Test  int32 `json:"test,omitempty"` // in collections with this split
}

// Grouping is a collection under one operator: D and the target of every query.
type Grouping struct {
	Key     Key
	Options Options
	Records *Records

	key   int     // place among the keys of its pass
	docOf []int32 // of each record
	docs  []members
}

// members is a document: its representative and the numbers of its records.
type members struct{ record, train, dev int32 }

// Len is |D|, the number of documents.
func (g *Grouping) Len() int { return len(g.docs) }

// KeyOf returns the key string of a document.
func (g *Grouping) KeyOf(doc int32) string { return g.keyOf(g.Records.light(int(g.docs[doc].record))) }

func (g *Grouping) keyOf(l light) string { return g.Records.strings(l, 4+g.key)[3+g.key] }

// Document describes a document.
func (g *Grouping) Document(doc int32) Document {
	m := g.docs[doc]
	l := g.Records.light(int(m.record))
	r := g.Records.record(int(m.record), l, g.Records.strings(l, 3))
	return Document{Doc: doc, Key: g.keyOf(l), ExampleID: r.ExampleID, Split: r.Split, URL: r.URL, Title: r.Title,
		OldID: r.OldID, PageID: r.PageID, Train: m.train, Dev: m.dev}
}

// Query is a question and its target. A question with several relevant documents has successive Queries, one for each.
type Query struct {
	ExampleID int64    `json:"example_id"`
	Split     nq.Split `json:"split"`
	Question  string   `json:"question"`
	Doc       int32    `json:"doc"`
	Grade     int32    `json:"grade,omitempty"` // how relevant Doc is, at least 1; 0 means 1
	Name      string   `json:"name,omitempty"`  // outside of redsi, where ExampleID is only its number here
}

// Query returns the query of record i.
func (g *Grouping) Query(i int) Query {
	r := g.Records.At(i)
	return Query{ExampleID: r.ExampleID, Split: r.Split, Question: r.Question, Doc: g.docOf[i]}
}

// Counts is one row of tab:dedup-counts.
type Counts struct {
	Train int `json:"train"` // distinct documents within train
	Dev   int `json:"dev"`
	Test  int `json:"test,omitempty"` // of collections that have this split
	Union int `json:"union"`          // over all: |D|
}

// Counts counts documents by split and over both. A key depends only on its record, so a split's documents are its records'.
func (g *Grouping) Counts() (c Counts) {
	for train, dev := range g.queries {
		c.Union++
		if train > 0 {
			c.Train++
		}
		if dev > 0 {
			c.Dev++
		}
	}
	return c
}

// queries yields the train and dev records of each document.
func (g *Grouping) queries(yield func(train, dev int32) bool) {
	for _, m := range g.docs {
		if !yield(m.train, m.dev) {
			return
		}
	}
}

// Empty is the number of records with an empty key (title-derived keys without <H1>); they share one document.
func (g *Grouping) Empty() int {
	for doc, m := range g.docs {
		if g.KeyOf(int32(doc)) == "" {
			return int(m.train + m.dev)
		}
	}
	return 0
}

// Members lists the records of every document, each in order. The lists share one array of the records' number.
func (g *Grouping) Members() [][]int32 {
	lists := make([][]int32, len(g.docs))
	room := make([]int32, len(g.docOf))
	for i, m := range g.docs {
		n := m.train + m.dev
		lists[i], room = room[:0:n], room[n:]
	}
	for i, doc := range g.docOf {
		lists[doc] = append(lists[doc], int32(i))
	}
	return lists
}
