package msmarco

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
)

// Key says when two documents are one.
type Key struct {
	Name  string
	Label string // for people
	Doc   string // what is compared, in one sentence
}

// The keys.
const (
	Exact           = "exact"
	NormalizedTitle = "normalized_title"
)

// Keys lists them, the default first.
func Keys() []Key {
	return []Key{
		{Exact, "docid", "docid as stored: every document is one of its own"},
		{NormalizedTitle, "normalized title", "BERT tokenize-and-decode of the title; documents whose title has no letter or digit then are each one of their own"},
	}
}

// Form says what a model reads of a document.
type Form string

// The forms.
const (
	Content      Form = "content"       // the body as stored
	TitleContent Form = "title_content" // title and body, trimmed, with a blank between them
)

// Text is a document's text in that form.
func (f Form) Text(d *Document) string {
	if f == Content {
		return string(d.Body)
	}
	parts := [][]byte{bytes.TrimSpace(d.Title), bytes.TrimSpace(d.Body)}
	return string(bytes.Join(slices.DeleteFunc(parts, func(p []byte) bool { return len(p) == 0 }), []byte{' '}))
}

// Collection numbers documents from zero in the order in which they come. Memory is about
// 100 bytes a document, and under NormalizedTitle its title; bodies are not kept.
type Collection struct {
	normalize func(title string) string // nil: Exact
	docs      []document
	byID      map[int64]int32
	byTitle   map[string]int32
	dropped   map[int64]struct{}
	untitled  int
	merged    int
}

// document is one of the collection.
type document struct {
	id         int64  // of the first that it is made of, which represents it
	key        string // under NormalizedTitle
	train, dev int32  // queries
}

// NewCollection makes documents one by normalize of their titles; nil keeps them apart.
func NewCollection(normalize func(title string) string) *Collection {
	return &Collection{normalize: normalize, byID: map[int64]int32{}, byTitle: map[string]int32{}, dropped: map[int64]struct{}{}}
}

// Len is |D|.
func (c *Collection) Len() int { return len(c.docs) }

// Untitled is the number of documents that have no title to compare; Merged, of those that
// are one with an earlier one.
func (c *Collection) Untitled() int { return c.untitled }
func (c *Collection) Merged() int   { return c.merged }

// Drop leaves a document out; it is known all the same, for the judgments that name it.
func (c *Collection) Drop(id int64) { c.dropped[id] = struct{}{} }

// Add takes the next document.
func (c *Collection) Add(d *Document) error {
	if _, ok := c.byID[d.ID]; ok {
		return faultf(nq.Duplicate, "document %s is in an earlier file already; the line is counted among the documents that are kept of this one", Name(d.ID))
	}
	if len(c.docs) == math.MaxInt32 {
		return fmt.Errorf("more than %d documents", math.MaxInt32)
	}
	doc := int32(len(c.docs))
	key := ""
	if c.normalize != nil {
		if key = c.normalize(string(d.Title)); !hasWord(key) {
			key = Name(d.ID) // no title equals it: those are lower-cased
			c.untitled++
		}
		if same, ok := c.byTitle[key]; ok {
			c.byID[d.ID] = same
			c.merged++
			return nil
		}
		c.byTitle[key] = doc
	}
	c.byID[d.ID] = doc
	c.docs = append(c.docs, document{id: d.ID, key: key})
	return nil
}

// hasWord reports that a normalized title tells documents apart: unknown characters and
// punctuation do not.
func hasWord(title string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(title, "[UNK]", ""), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// Ask gives each query of a split its documents, one Query for each, after all documents
// were added. A judgment of a document that was never seen is counted, or an error if they
// must all be there. A query without documents is left out.
func (c *Collection) Ask(split nq.Split, q *Questions, all bool, n *QuestionCounts, put func(*dedup.Query) error) error {
	var docs []int32
	for i, query := range q.Queries {
		docs = docs[:0]
		for _, id := range q.Relevant[i] {
			doc, ok := c.byID[id]
			_, dropped := c.dropped[id]
			switch {
			case dropped:
				n.Dropped++
			case !ok && all:
				return fmt.Errorf("the judgment of %s query %d and document %s: the document is in none of the files of documents", split, query.ID, Name(id))
			case !ok:
				n.Missing++
			case slices.Contains(docs, doc):
				n.Merged++
			default:
				docs = append(docs, doc)
			}
		}
		switch {
		case len(docs) == 0:
			n.Documentless++
			continue
		case len(docs) > 1:
			n.Several++
		}
		n.Asked++
		for _, doc := range docs {
			if split == nq.Train {
				c.docs[doc].train++
			} else {
				c.docs[doc].dev++
			}
			if err := put(&dedup.Query{ExampleID: query.ID, Split: split, Question: query.Text, Doc: doc}); err != nil {
				return err
			}
		}
	}
	if n.Asked == 0 {
		return fmt.Errorf("no %s query has a document: do the judgments belong to these queries, and are the files of documents complete?", split)
	}
	return nil
}

// Represents returns the document that d stands for, if it does; for documents in the order
// of Add, of which next are done.
func (c *Collection) Represents(d *Document, next int) (dedup.Document, bool) {
	if next >= len(c.docs) || c.docs[next].id != d.ID {
		return dedup.Document{}, false
	}
	m := c.docs[next]
	if m.key == "" {
		m.key = Name(m.id)
	}
	return dedup.Document{Doc: int32(next), Key: m.key, ExampleID: m.id, URL: string(d.URL),
		Title: string(bytes.TrimSpace(d.Title)), Train: m.train, Dev: m.dev}, true
}

// Queries yields the train and dev queries of each document.
func (c *Collection) Queries(yield func(train, dev int32) bool) {
	for _, d := range c.docs {
		if !yield(d.train, d.dev) {
			return
		}
	}
}
