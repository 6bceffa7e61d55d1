package collect

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/system/values"
)

// Key says when two documents are one.
type Key struct {
	Name  string
	Label string // for people
	Doc   string // what is compared, in one sentence
}

const (
	Exact           = "exact"
	NormalizedTitle = "normalized_title"
)

// Keys lists them, the default first.
func Keys() []Key {
	return []Key{
		{Exact, "name", "the name as stored: every document is one of its own"},
		{NormalizedTitle, "normalized title", "BERT tokenize-and-decode of the title; documents whose title has no letter or digit then are each one of their own"},
	}
}

// hasWord reports whether a normalized title tells documents apart, by more than unknown characters and punctuation.
func hasWord(title string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(title, "[UNK]", ""), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// Merging or drawing documents takes two passes: Gather reads all, Number decides, Rewrite reads them a second time.

// Twice reports whether documents must be read in two passes, not by ReadDocuments.
func (c *Collection) Twice() bool {
	return c.questions.options.Normalize != nil || c.others != nil
}

// gathered is a document that may be taken.
type gathered struct {
	name, judged int32
	wanted       bool
	hash         uint64 // if it is not wanted
	title        string // normalized; "": not compared
	untitled     bool
}

// Gather reads the documents of a file, in its order.
func (c *Collection) Gather(ctx context.Context, f File, how Reading) (FileReport, error) {
	o := &c.questions.options
	return c.eachDocument(ctx, f, how, func(d *Document, name, judged int32) error {
		g := gathered{name: name, judged: judged, wanted: c.isWanted(judged), untitled: strings.TrimSpace(d.Title) == ""}
		if !g.wanted && c.others != nil {
			if g.hash = hashOf(d.Key, o.Seed); !c.others.offer(g.hash) {
				return nil
			}
		}
		if o.Normalize != nil {
			if g.title = o.Normalize(d.Title); !hasWord(g.title) {
				g.title, g.untitled = "", true
			}
		}
		c.found = append(c.found, g)
		return nil
	})
}

// Number chooses and numbers the documents gathered. The first document of a title represents all of that title.
func (c *Collection) Number() {
	byTitle := map[string]int32{}
	c.numbers = slices.Repeat([]int32{unseen}, c.names.Len())
	for _, g := range c.found {
		if !g.wanted && c.others != nil && !c.others.has(g.hash) {
			continue
		}
		c.count(g.wanted, g.untitled)
		number, merged := byTitle[g.title]
		if merged = merged && g.title != ""; merged {
			c.Report.Merged++
		} else {
			number = int32(c.Report.Union)
			c.Report.Union++
			c.numbers[g.name], byTitle[g.title] = number, number
		}
		if g.judged >= 0 {
			c.taken[g.judged] = number
		}
	}
	c.found = nil
	c.byNumber = make([][3]int32, c.Report.Union)
	for _, have := range c.questions.list {
		for _, j := range c.judgments(have) {
			if have.asked() && j.grade >= c.questions.options.Relevant {
				c.byNumber[j.document][slices.Index(Splits(), have.split)]++
			}
		}
	}
}

// Rewrite reads a file a second time and gives put the representing documents.
func (c *Collection) Rewrite(ctx context.Context, f File, how Reading, put func(*Document) error) error {
	counted := Policy{Skip: true, Empty: true} // by Gather, which counted bad records or failed
	_, err := counted.eachRecord(ctx, f, Documents, how, new(Counts), func(_ int64, r *record) error {
		d, _, err := c.document(r)
		if err != nil {
			return err
		}
		name, _ := c.names.Find(d.Key)
		number := c.numbers[name]
		if number < 0 {
			return nil
		}
		c.numbers[name] = unseen // for a second record of the name
		d.Doc, d.ExampleID = number, int64(number)
		asked := c.byNumber[number]
		d.Train, d.Dev, d.Test = asked[0], asked[1], asked[2]
		if normalize := c.questions.options.Normalize; normalize != nil {
			if title := normalize(d.Title); hasWord(title) {
				d.Key = title
			}
		}
		return c.put(d, put)
	})
	return err
}

// Sifted is a document as Sift keeps it, which ReadDocuments and Gather read as JSON lines.
type Sifted struct {
	ID       string `json:"id"`
	Title    string `json:"title,omitempty"`
	Text     string `json:"text"`
	URL      string `json:"url,omitempty"`
	Revision string `json:"oldid,omitempty"`
	Page     string `json:"page_id,omitempty"`
}

// Sift gives put the documents that may be taken, whatever other files have: wanted, even if empty, or possibly drawn.
func (c *Collection) Sift(ctx context.Context, f File, how Reading, put func(Sifted) error) (FileReport, error) {
	o := &c.questions.options
	return o.eachRecord(ctx, f, Documents, how, &c.Report.Lines, func(_ int64, r *record) error {
		d, judged, err := c.document(r)
		if err != nil {
			return err
		}
		_, is, err := c.take(d, judged)
		if err != nil || is == unseen || is == dropped && !c.isWanted(judged) {
			return err
		}
		if !c.isWanted(judged) && c.others != nil && !c.others.offer(hashOf(d.Key, o.Seed)) {
			return nil
		}
		if err := put(Sifted{d.Key, r.text(docTitle), r.text(docText), r.text(docURL), r.text(docRevision), r.text(docPage)}); err != nil {
			return &Unwritten{err}
		}
		return nil
	})
}

// Join adds the report of sifted files. Files read after it hold what Sift kept.
func (c *Collection) Join(r DocumentsReport) {
	c.sifted = true
	values.Add(&c.Report, r)
	c.Report.Lines.Name(r.Lines.Named...)
}
