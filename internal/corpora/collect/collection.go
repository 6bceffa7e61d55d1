package collect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/system/values"
)

// Document is a document of a collection with the text that a model reads.
type Document struct {
	dedup.Document
	Text  string
	empty bool
}

type DocumentsReport struct {
	Lines    Counts `json:"lines"`            // records of the files of documents
	Empty    int64  `json:"empty"`            // documents whose text has no words, except Unjudged
	Dropped  int64  `json:"dropped"`          // empty documents that were left out
	Unjudged int64  `json:"unjudged"`         // left out because no judgment names them
	Judged   int64  `json:"judged"`           // taken, and named by a judgment
	Others   int64  `json:"others"`           // taken, and not named by a judgment
	Untitled int64  `json:"untitled"`         // taken, without a title
	Merged   int64  `json:"merged,omitempty"` // joined with an earlier document of the same title
	Union    int64  `json:"union"`            // |D|
}

// Collection numbers documents from zero as they come. Memory is their names and about 30 bytes each, no text.
type Collection struct {
	questions *Questions
	names     dedup.NameTable
	taken     []int32    // by judged document: its number, unseen or dropped
	asking    [][3]int32 // by judged document: queries by split, in the order of Splits
	wanted    []bool     // by judged document
	others    *sample    // of unwanted documents; nil: all
	sifted    bool       // the files read hold what Sift kept
	texts     int64      // documents of the collection with a text

	found    []gathered // until Number
	numbers  []int32    // of representing documents, by name
	byNumber [][3]int32 // asking, by number

	Report DocumentsReport
}

// The values of taken for judged documents without a number.
const (
	unseen  = -1
	dropped = -2
)

// NewCollection returns a collection for queries with settled splits.
func NewCollection(q *Questions) *Collection {
	n := q.named.Len()
	c := &Collection{questions: q, taken: slices.Repeat([]int32{unseen}, n), asking: make([][3]int32, n), wanted: make([]bool, n)}
	if q.options.Others > 0 {
		c.others = &sample{n: q.options.Others}
	}
	for _, have := range q.list {
		if have.left {
			continue
		}
		for _, j := range have.judged {
			relevant := have.asked() && j.grade >= q.options.Relevant
			if relevant {
				c.asking[j.document][slices.Index(Splits(), have.split)]++
			}
			if relevant || q.options.Keep != KeepRelevant {
				c.wanted[j.document] = true
			}
		}
	}
	return c
}

// ReadDocuments reads a file's documents in order and gives put the documents of the collection.
func (c *Collection) ReadDocuments(ctx context.Context, f File, how Reading, put func(*Document) error) (FileReport, error) {
	return c.eachDocument(ctx, f, how, func(d *Document, _, judged int32) error {
		if judged >= 0 {
			c.taken[judged] = d.Doc
			d.Train, d.Dev, d.Test = c.asking[judged][0], c.asking[judged][1], c.asking[judged][2]
		}
		c.count(c.isWanted(judged), strings.TrimSpace(d.Title) == "")
		c.Report.Union++
		return c.put(d, put)
	})
}

func (c *Collection) put(d *Document, put func(*Document) error) error {
	if !d.empty {
		c.texts++
	}
	if err := put(d); err != nil {
		return &Unwritten{err}
	}
	return nil
}

// eachDocument visits the documents of a file, without those left out.
func (c *Collection) eachDocument(ctx context.Context, f File, how Reading, visit func(d *Document, name, judged int32) error) (FileReport, error) {
	p, counts := c.questions.options.Policy, &c.Report.Lines
	var uncounted Counts
	if c.sifted {
		p.Empty, counts = true, &uncounted
	}
	report, err := p.eachRecord(ctx, f, Documents, how, counts, func(_ int64, r *record) error {
		d, judged, err := c.document(r)
		if err != nil {
			return err
		}
		name, is, err := c.take(d, judged)
		if err != nil || is < 0 {
			return err
		}
		return visit(d, name, judged)
	})
	if c.sifted { // a document of two files is found here
		values.Add(&c.Report.Lines, Counts{Records: -uncounted.SkippedTotal(), Skips: uncounted.Skips})
		c.Report.Lines.Name(uncounted.Named...)
	}
	return report, err
}

// take says whether to leave a document out, and counts it: 0 takes it, dropped has no words, unseen is not wanted.
func (c *Collection) take(d *Document, judged int32) (name, is int32, err error) {
	o := &c.questions.options
	name, isNew := c.names.Add(d.Key)
	if !isNew {
		return 0, 0, nq.Faultf(nq.Duplicate, "document %.60q was there before", d.Key)
	}
	if name == math.MaxInt32 {
		return 0, 0, fmt.Errorf("more than %d documents", math.MaxInt32)
	}
	var unwanted, empty, left int64
	switch {
	case !o.Keep.all() && !c.isWanted(judged):
		unwanted, is = 1, unseen
	case d.empty:
		empty = 1
		if o.Drop {
			left, is = 1, dropped
			if judged >= 0 {
				c.taken[judged] = dropped
			}
		}
	}
	if !c.sifted {
		c.Report.Unjudged += unwanted
		c.Report.Empty += empty
		c.Report.Dropped += left
	}
	return name, is, nil
}

func (c *Collection) isWanted(judged int32) bool { return judged >= 0 && c.wanted[judged] }

func (c *Collection) count(wanted, untitled bool) {
	if wanted {
		c.Report.Judged++
	} else {
		c.Report.Others++
	}
	if untitled {
		c.Report.Untitled++
	}
}

// document converts a record; judged is the document's number among judged names, or -1.
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
			if *id.into, err = values.ID(said); err != nil {
				return nil, 0, nq.Faultf(nq.BadType, "%s %v", columnsOf[Documents][id.column].name, err)
			}
		}
	}
	d.empty = c.questions.options.Bodies && strings.TrimSpace(d.Text) == ""
	if c.questions.options.Form == TitleContent {
		d.Text = strings.TrimSpace(strings.TrimSpace(d.Title) + " " + strings.TrimSpace(d.Text))
	}
	d.empty = d.empty || strings.TrimSpace(d.Text) == ""
	return d, judged, nil
}

// Finish counts judgments with and without their documents, once all documents were read.
func (c *Collection) Finish() error {
	q := c.questions
	if c.Report.Union == 0 {
		return fmt.Errorf("no document remains of the %d that were read", c.Report.Lines.Records)
	}
	if c.texts == 0 {
		return fmt.Errorf("none of the %d documents has a text", c.Report.Union)
	}
	for _, have := range q.list {
		if !have.asked() {
			continue
		}
		r, taken, found := q.Report.Of(have.split), 0, 0
		for _, j := range have.judged {
			switch number := c.taken[j.document]; {
			case number == dropped:
				r.Dropped++
			case number >= 0:
				taken++
			case c.wanted[j.document] && q.options.AllKnown:
				return fmt.Errorf("the judgment of %s query %.60q and document %.60q: the document is in none of the files of documents", have.split, have.name, q.named.At(j.document))
			case c.wanted[j.document]:
				r.Missing++
			}
		}
		list := c.judgments(have)
		r.Merged += int64(taken - len(list))
		for _, j := range list {
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
	for asked := range c.Targets {
		for s, split := range Splits() {
			if asked[s] > 0 {
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

// judgments returns a query's judgments of taken documents, by number; of merged documents the highest grade counts.
func (c *Collection) judgments(have *question) []judgment {
	list := make([]judgment, 0, len(have.judged))
	var place map[int32]int
	if c.questions.options.Normalize != nil {
		place = map[int32]int{}
	}
	for _, j := range have.judged {
		number := c.taken[j.document]
		if number < 0 {
			continue
		}
		if place != nil {
			if at, merged := place[number]; merged {
				list[at].grade = max(list[at].grade, j.grade)
				continue
			}
			place[number] = len(list)
		}
		list = append(list, judgment{number, j.grade})
	}
	return list
}

// EachQuery gives the remaining queries in the order read, a line per relevant document in judgment order; example_id is the
// query's place among all queries read, from zero.
func (c *Collection) EachQuery(put func(*dedup.Query) error) error {
	for i, have := range c.questions.list {
		if !have.asked() {
			continue
		}
		for _, j := range c.judgments(have) {
			if j.grade < c.questions.options.Relevant {
				continue
			}
			line := dedup.Query{ExampleID: int64(i), Split: have.split, Question: have.text, Doc: j.document, Name: have.name}
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

// Qrels returns all judgments, relevant or not, of a split's queries and taken documents.
func (c *Collection) Qrels(split nq.Split) (*trec.Judgments, error) {
	var out trec.Judgments
	for i, have := range c.questions.list {
		if have.split != split || have.left {
			continue
		}
		for _, j := range c.judgments(have) {
			if err := out.Judge(fmt.Sprint(i), fmt.Sprint(j.document), int(j.grade)); err != nil {
				return nil, err
			}
		}
	}
	return &out, nil
}

// Targets yields the number of train, dev and test queries of each judged document.
func (c *Collection) Targets(yield func([3]int32) bool) {
	if c.byNumber != nil {
		slices.Values(c.byNumber)(yield)
		return
	}
	for i, number := range c.taken {
		if number >= 0 && !yield(c.asking[i]) {
			return
		}
	}
}
