package collect

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/qrels"
)

// Document is one of a collection with the text that a model reads.
type Document struct {
	dedup.Document
	Text string
}

// DocumentsReport says what became of the documents that were read.
type DocumentsReport struct {
	Lines    Counts `json:"lines"`    // records of the files of documents
	Empty    int64  `json:"empty"`    // of those that were not left out as unjudged, whose text has no words
	Dropped  int64  `json:"dropped"`  // of them, those that were left out
	Unjudged int64  `json:"unjudged"` // left out because no judgment names them
	Judged   int64  `json:"judged"`   // taken, and named by a judgment
	Others   int64  `json:"others"`   // taken beside those
	Untitled int64  `json:"untitled"` // of those taken
	Union    int64  `json:"union"`    // |D|
}

// Collection numbers documents from zero in the order in which they come. Memory grows with
// their names, about 30 bytes each and the name, and not with their texts.
type Collection struct {
	questions *Questions
	names     dedup.NameTable
	taken     []int32    // number of each document that judgments name, or one of the two below
	asking    [][3]int32 // its queries by split, in the order of Splits

	Report DocumentsReport
}

// What a document that judgments name is before it has a number.
const (
	unseen  = -1
	dropped = -2
)

// NewCollection is made of queries that have their splits.
func NewCollection(q *Questions) *Collection {
	c := &Collection{questions: q, taken: make([]int32, q.named.Len()), asking: make([][3]int32, q.named.Len())}
	for i := range c.taken {
		c.taken[i] = unseen
	}
	for _, have := range q.list {
		if have.split == "" {
			continue
		}
		for _, j := range have.judged {
			if j.grade >= q.options.Relevant {
				c.asking[j.document][splitIndex(have.split)]++
			}
		}
	}
	return c
}

func splitIndex(s nq.Split) int {
	for i, split := range Splits() {
		if split == s {
			return i
		}
	}
	return len(Splits()) - 1
}

// ReadDocuments takes the documents of a file, in its order, and gives those that belong to
// the collection to put.
func (c *Collection) ReadDocuments(ctx context.Context, f File, how Reading, put func(*Document) error) (FileReport, error) {
	o := &c.questions.options
	return o.eachRecord(ctx, f, Documents, how, &c.Report.Lines, func(_ int64, r *record) error {
		d, judged, err := c.document(r)
		if err != nil {
			return err
		}
		named, isNew := c.names.Add(d.Key)
		if !isNew {
			return faultf(nq.Duplicate, "document %.60q was there before", d.Key)
		}
		if named == math.MaxInt32 {
			return fmt.Errorf("more than %d documents", math.MaxInt32)
		}
		empty := strings.TrimSpace(d.Text) == ""
		switch {
		case o.Judged && judged < 0:
			c.Report.Unjudged++
			return nil
		case empty:
			if c.Report.Empty++; o.Drop {
				c.Report.Dropped++
				if judged >= 0 {
					c.taken[judged] = dropped
				}
				return nil
			}
		}
		if judged >= 0 {
			c.Report.Judged++
			c.taken[judged] = d.Doc
			d.Train, d.Dev, d.Test = c.asking[judged][0], c.asking[judged][1], c.asking[judged][2]
		} else {
			c.Report.Others++
		}
		if strings.TrimSpace(d.Title) == "" {
			c.Report.Untitled++
		}
		c.Report.Union++
		if err := put(d); err != nil {
			return &Unwritten{err}
		}
		return nil
	})
}

// document makes the next one of a record; judged is its number among those that judgments
// name, or -1.
func (c *Collection) document(r *record) (d *Document, judged int32, err error) {
	name, err := cleanName("document", r.text(docID))
	if err != nil {
		return nil, 0, err
	}
	judged, ok := c.questions.named.Find(name)
	if !ok {
		judged = -1
	}
	number := int32(c.Report.Union)
	d = &Document{Document: dedup.Document{Doc: number, Key: name, ExampleID: int64(number), Title: r.text(docTitle), URL: r.text(docURL)}, Text: r.text(docText)}
	for _, id := range []struct {
		column int
		into   *uint64
	}{{docRevision, &d.OldID}, {docPage, &d.PageID}} {
		if said := r.text(id.column); said != "" {
			var ok bool
			if *id.into, ok = parseID(said); !ok {
				return nil, 0, faultf(nq.BadType, "%s %.40q is not a whole number", columnsOf[Documents][id.column].name, said)
			}
		}
	}
	if c.questions.options.Form == TitleContent {
		d.Text = strings.TrimSpace(strings.TrimSpace(d.Title) + " " + strings.TrimSpace(d.Text))
	}
	return d, judged, nil
}

// Finish looks at what judgments name and the documents are not, once all were read.
func (c *Collection) Finish() error {
	q := c.questions
	if c.Report.Union == 0 {
		return fmt.Errorf("no document remains of the %d that were read", c.Report.Lines.Records)
	}
	if c.Report.Empty-c.Report.Dropped == c.Report.Union {
		return fmt.Errorf("none of the %d documents has a text", c.Report.Union)
	}
	for i := range q.list {
		have := &q.list[i]
		if have.split == "" {
			continue
		}
		r, found := q.Report.Of(have.split), 0
		for _, j := range have.judged {
			switch c.taken[j.document] {
			case dropped:
				r.Dropped++
				continue
			case unseen:
				if q.options.AllKnown {
					return fmt.Errorf("the judgment of %s query %.60q and document %.60q: the document is in none of the files of documents", have.split, have.name, q.named.At(j.document))
				}
				r.Missing++
				continue
			}
			r.Judgments++
			if j.grade < q.options.Relevant {
				r.Irrelevant++
			} else {
				found++
			}
		}
		switch {
		case found > 0:
			r.Asked++
			if found > 1 {
				r.Several++
			}
		case have.relevant:
			r.Documentless++
		}
	}
	for i, number := range c.taken {
		for s, split := range Splits() {
			if number >= 0 && c.asking[i][s] > 0 {
				q.Report.Of(split).Targets++
			}
		}
	}
	asked := q.Report.Train.Asked + q.Report.Dev.Asked + q.Report.Test.Asked
	if len(q.list) > 0 && asked == 0 {
		return fmt.Errorf("none of the %d queries has a relevant document: do the judgments belong to these queries, and do both use the same document names?", len(q.list))
	}
	return nil
}

// EachQuery gives every query that remains, in the order in which they were read, a line for
// each of its relevant documents in the order of their judgments. example_id is its place
// among all queries that were read, from zero.
func (c *Collection) EachQuery(put func(*dedup.Query) error) error {
	for i := range c.questions.list {
		have := &c.questions.list[i]
		if have.split == "" {
			continue
		}
		for _, j := range have.judged {
			if j.grade < c.questions.options.Relevant || c.taken[j.document] < 0 {
				continue
			}
			line := dedup.Query{ExampleID: int64(i), Split: have.split, Question: have.text, Doc: c.taken[j.document], Name: have.name}
			if j.grade != 1 {
				line.Grade = j.grade
			}
			if err := put(&line); err != nil {
				return err
			}
		}
	}
	return nil
}

// Qrels are all judgments of a split's queries, of documents that are taken: those that are
// not relevant too, and of queries that have no relevant document.
func (c *Collection) Qrels(split nq.Split) (*qrels.Judgments, error) {
	var out qrels.Judgments
	for i := range c.questions.list {
		have := &c.questions.list[i]
		if have.split != split {
			continue
		}
		for _, j := range have.judged {
			if number := c.taken[j.document]; number >= 0 {
				if err := out.Judge(fmt.Sprint(i), fmt.Sprint(number), int(j.grade)); err != nil {
					return nil, err
				}
			}
		}
	}
	return &out, nil
}

// Targets yields how many train, dev and test queries each document has that judgments name.
func (c *Collection) Targets(yield func(train, dev, test int32) bool) {
	for i, number := range c.taken {
		if a := c.asking[i]; number >= 0 && !yield(a[0], a[1], a[2]) {
			return
		}
	}
}
