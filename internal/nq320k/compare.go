package nq320k

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/nq"
)

// Collection is one side of a comparison.
type Collection struct {
	Documents, Queries io.Reader
	Corpus             func() (*corpus.Reader, func(), error) // opened twice, if texts differ
}

// Comparison says what two collections have in common. A document of ours and one of the
// package are a pair if the first record of either, dev first, belongs to the other.
type Comparison struct {
	AllSame   bool `json:"all_same"`
	Documents struct {
		Ours             int `json:"ours"`
		Package          int `json:"package"`
		Pairs            int `json:"pairs"`
		SameRecords      int `json:"same_records"`      // pairs that have the same records
		SameNumber       int `json:"same_number"`       // pairs
		OnlyOurs         int `json:"only_ours"`         // no record of it is in the package
		OnlyPackage      int `json:"only_package"`      // no record of it is in ours
		RegroupedOurs    int `json:"regrouped_ours"`    // its records are in documents that pair with others
		RegroupedPackage int `json:"regrouped_package"` // the same, of the package
	} `json:"documents"`
	Titles struct {
		Same   int `json:"same"`
		Differ int `json:"differ"`
	} `json:"titles"` // of pairs
	Texts struct {
		Same            int `json:"same"`
		OnlyWhiteSpace  int `json:"only_white_space"` // differ in white space alone
		Differ          int `json:"differ"`
		OnlyOneHasAText int `json:"only_one_has_a_text"`
	} `json:"texts"` // of pairs
	Queries struct {
		Ours        int `json:"ours"`
		Package     int `json:"package"`
		Both        int `json:"both"`         // by example id, whatever the split
		OtherSplit  int `json:"other_split"`  // of both
		OtherText   int `json:"other_text"`   // of both
		OtherTarget int `json:"other_target"` // of both: the documents are no pair
		OnlyOurs    int `json:"only_ours"`
		OnlyPackage int `json:"only_package"`
	} `json:"queries"`
	Differences []Difference `json:"differences"` // the first of each kind
}

// Difference is one of them, with what surrounds it.
type Difference struct {
	What            string `json:"what"`                       // such as "text"
	ExampleID       int64  `json:"example_id"`                 // of a query, or of a document's first record
	OursDocument    *int32 `json:"ours_document,omitempty"`    // its number
	PackageDocument *int32 `json:"package_document,omitempty"` // its number
	At              int    `json:"at,omitempty"`               // code points that are equal before it
	Ours            string `json:"ours"`
	Package         string `json:"package"`
}

// Compare compares a collection of ours with a package. Texts are streamed; of each
// document and query 150 bytes, the title and the question are held. At most limit
// differences of a kind are shown.
func Compare(ours, theirs Collection, limit int) (*Comparison, error) {
	c := comparison{limit: limit, shown: map[string]int{}, Comparison: &Comparison{Differences: []Difference{}}}
	var err error
	if c.a, err = readSide(ours); err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	if c.b, err = readSide(theirs); err != nil {
		return nil, fmt.Errorf("the package: %w", err)
	}
	c.pair()
	c.documents()
	c.queries()
	if err := c.texts(ours, theirs); err != nil {
		return nil, err
	}
	c.AllSame = len(c.shown) == 0
	return c.Comparison, nil
}

// record is what makes an example unique: the splits number theirs apart.
type record struct {
	dev bool
	id  int64
}

// asked is a query of a side.
type asked struct {
	record
	doc      int32
	question string
}

// side is a collection without its texts.
type side struct {
	titles  []string
	queries []asked
	at      map[record]int32 // place among queries
	first   []int32          // of each document: its first query, dev first
	size    []int32          // queries of each document
	pair    []int32          // document of the other side; -1: none
}

func readSide(c Collection) (*side, error) {
	s := &side{at: map[record]int32{}}
	err := dedup.ReadDocuments(c.Documents, func(d *dedup.Document) error {
		s.titles = append(s.titles, TitleOf(d))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("documents: %w", err)
	}
	s.first, s.size = slices.Repeat([]int32{-1}, len(s.titles)), make([]int32, len(s.titles))
	s.pair = slices.Clone(s.first)
	err = dedup.ReadQueries(c.Queries, len(s.titles), func(q *dedup.Query) error {
		r := record{q.Split == nq.Dev, q.ExampleID}
		if _, ok := s.at[r]; ok {
			return fmt.Errorf("%s example %d occurs twice", q.Split, q.ExampleID)
		}
		n := int32(len(s.queries))
		s.at[r] = n
		s.queries = append(s.queries, asked{r, q.Doc, q.Question})
		s.size[q.Doc]++
		if f := s.first[q.Doc]; f < 0 || r.dev && !s.queries[f].dev {
			s.first[q.Doc] = n
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	for d, f := range s.first {
		if f < 0 {
			return nil, fmt.Errorf("document %d has no query", d)
		}
	}
	return s, nil
}

// find is a record's query, of either split; -1 if there is none.
func (s *side) find(r record) int32 {
	for _, dev := range []bool{r.dev, !r.dev} {
		if n, ok := s.at[record{dev, r.id}]; ok {
			return n
		}
	}
	return -1
}

// target is the document of a record; -1 if it is not there.
func (s *side) target(r record) int32 {
	if n := s.find(r); n >= 0 {
		return s.queries[n].doc
	}
	return -1
}

// head is a document's first record.
func (s *side) head(doc int32) record { return s.queries[s.first[doc]].record }

type comparison struct {
	*Comparison
	a, b  *side // ours, the package's
	limit int
	shown map[string]int // differences by kind, also those beyond the limit
}

// room reports whether one more difference of that kind is to be shown.
func (c *comparison) room(what string) bool {
	c.shown[what]++
	return c.shown[what] <= c.limit
}

func (c *comparison) show(d Difference) {
	if c.room(d.What) {
		c.Differences = append(c.Differences, d)
	}
}

func (c *comparison) pair() {
	for p := range c.b.first {
		o := c.a.target(c.b.head(int32(p)))
		if o >= 0 && c.b.target(c.a.head(o)) == int32(p) {
			c.a.pair[o], c.b.pair[p] = int32(p), o
		}
	}
}

// documents compares how records are grouped, the numbers and the titles.
func (c *comparison) documents() {
	d := &c.Documents
	d.Ours, d.Package = len(c.a.titles), len(c.b.titles)
	shared := make([]int32, d.Ours) // records that a document has in common with its pair
	for _, q := range c.a.queries {
		if p := c.b.target(q.record); p >= 0 && p == c.a.pair[q.doc] {
			shared[q.doc]++
		}
	}
	for i, p := range c.a.pair {
		o := int32(i)
		if p < 0 {
			continue
		}
		d.Pairs++
		diff := Difference{ExampleID: c.a.head(o).id, OursDocument: &o, PackageDocument: &p}
		if shared[o] == c.a.size[o] && shared[o] == c.b.size[p] {
			d.SameRecords++
		} else {
			diff.What, diff.Ours, diff.Package = "records", fmt.Sprintf("%d records, %d of them shared", c.a.size[o], shared[o]), fmt.Sprintf("%d records", c.b.size[p])
			c.show(diff)
		}
		if o == p {
			d.SameNumber++
		} else {
			diff.What, diff.Ours, diff.Package = "number", fmt.Sprint(o), fmt.Sprint(p)
			c.show(diff)
		}
		if c.a.titles[o] == c.b.titles[p] {
			c.Titles.Same++
		} else {
			c.Titles.Differ++
			diff.What = "title"
			diff.At, diff.Ours, diff.Package = around(c.a.titles[o], c.b.titles[p])
			c.show(diff)
		}
	}
	d.OnlyOurs, d.RegroupedOurs = c.unpaired(c.a, c.b, func(doc *int32) Difference {
		return Difference{OursDocument: doc, Ours: c.a.titles[*doc]}
	}, "ours")
	d.OnlyPackage, d.RegroupedPackage = c.unpaired(c.b, c.a, func(doc *int32) Difference {
		return Difference{PackageDocument: doc, Package: c.b.titles[*doc]}
	}, "package")
}

// unpaired counts the documents of a side without a pair: those of which the other side
// has no record, and those whose records it groups otherwise.
func (c *comparison) unpaired(s, other *side, of func(*int32) Difference, name string) (only, regrouped int) {
	known := make([]bool, len(s.titles))
	for _, q := range s.queries {
		known[q.doc] = known[q.doc] || other.find(q.record) >= 0
	}
	for i, pair := range s.pair {
		doc := int32(i)
		if pair >= 0 {
			continue
		}
		diff := of(&doc)
		diff.ExampleID = s.head(doc).id
		if diff.What = "only in " + name; known[doc] {
			regrouped++
			diff.What = "regrouped in " + name
		} else {
			only++
		}
		c.show(diff)
	}
	return only, regrouped
}

func (c *comparison) queries() {
	n := &c.Queries
	n.Ours, n.Package = len(c.a.queries), len(c.b.queries)
	for i := range c.a.queries {
		o := &c.a.queries[i]
		at := c.b.find(o.record)
		if at < 0 {
			n.OnlyOurs++
			c.show(Difference{What: "query only in ours", ExampleID: o.id, OursDocument: &o.doc, Ours: o.question})
			continue
		}
		p := &c.b.queries[at]
		n.Both++
		diff := Difference{ExampleID: o.id, OursDocument: &o.doc, PackageDocument: &p.doc}
		if o.dev != p.dev {
			n.OtherSplit++
			diff.What, diff.Ours, diff.Package = "split", splitOf(o), splitOf(p)
			c.show(diff)
		}
		if o.question != p.question {
			n.OtherText++
			diff.What = "question"
			diff.At, diff.Ours, diff.Package = around(o.question, p.question)
			c.show(diff)
		}
		if c.a.pair[o.doc] != p.doc {
			n.OtherTarget++
			c.show(Difference{What: "target", ExampleID: o.id, OursDocument: &o.doc, PackageDocument: &p.doc, Ours: c.a.titles[o.doc], Package: c.b.titles[p.doc]})
		}
	}
	for i := range c.b.queries {
		if p := &c.b.queries[i]; c.a.find(p.record) < 0 {
			n.OnlyPackage++
			c.show(Difference{What: "query only in package", ExampleID: p.id, PackageDocument: &p.doc, Package: p.question})
		}
	}
}

func splitOf(q *asked) string {
	if q.dev {
		return string(nq.Dev)
	}
	return string(nq.Train)
}

// digests tell texts apart, with and without regard to their white space.
type digests struct{ whole, spaced [16]byte }

func digestsOf(text string) *digests {
	whole, spaced := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
	return &digests{[16]byte(whole[:16]), [16]byte(spaced[:16])}
}

// texts compares the texts of pairs by their digests, then reads those that it shows.
func (c *comparison) texts(ours, other Collection) error {
	theirs := make([]*digests, len(c.b.titles)) // nil: no text
	err := each(other, len(theirs), func(d *corpus.Document) {
		if d.Text != "" {
			theirs[d.Doc] = digestsOf(d.Text)
		}
	})
	if err != nil {
		return fmt.Errorf("the package: %w", err)
	}
	show := map[int32]int{}    // place among Differences, by document of the package
	mine := map[int32]string{} // text by document of ours
	have := make([]bool, len(c.a.titles))
	compare := func(o int32, text string) {
		p := c.a.pair[o]
		if p < 0 {
			return
		}
		var what string
		switch {
		case text == "" && theirs[p] == nil:
			c.Texts.Same++
			return
		case text == "" || theirs[p] == nil:
			c.Texts.OnlyOneHasAText++
			what = "text of one only"
		default:
			switch own := digestsOf(text); {
			case own.whole == theirs[p].whole:
				c.Texts.Same++
				return
			case own.spaced == theirs[p].spaced:
				c.Texts.OnlyWhiteSpace++
				what = "white space"
			default:
				c.Texts.Differ++
				what = "text"
			}
		}
		if c.room(what) {
			show[p], mine[o] = len(c.Differences), text
			c.Differences = append(c.Differences, Difference{What: what, ExampleID: c.a.head(o).id, OursDocument: &o, PackageDocument: &p})
		}
	}
	if err := each(ours, len(have), func(d *corpus.Document) {
		have[d.Doc] = true
		compare(d.Doc, d.Text)
	}); err != nil {
		return fmt.Errorf("ours: %w", err)
	}
	for o, ok := range have {
		if !ok {
			compare(int32(o), "")
		}
	}
	if len(show) == 0 {
		return nil
	}
	for _, at := range show { // a document without a text is not met
		d := &c.Differences[at]
		d.At, d.Ours, d.Package = around(mine[*d.OursDocument], "")
	}
	return each(other, len(theirs), func(d *corpus.Document) {
		if at, ok := show[d.Doc]; ok {
			diff := &c.Differences[at]
			diff.At, diff.Ours, diff.Package = around(mine[*diff.OursDocument], d.Text)
		}
	})
}

// each reads a corpus of a collection of so many documents.
func each(c Collection, documents int, visit func(*corpus.Document)) error {
	r, done, err := c.Corpus()
	if err != nil {
		return err
	}
	defer done()
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if int(d.Doc) >= documents {
			return fmt.Errorf("the corpus has a document %d, the collection has %d documents", d.Doc, documents)
		}
		visit(&d)
	}
}

// Code points that around shows before and from a difference.
const (
	before = 40
	after  = 80
)

// around is the first place at which two texts differ, in code points, and what stands
// around it in each.
func around(a, b string) (at int, ofA, ofB string) {
	equal := 0
	for equal < len(a) && equal < len(b) {
		ra, n := utf8.DecodeRuneInString(a[equal:])
		if rb, _ := utf8.DecodeRuneInString(b[equal:]); ra != rb {
			break
		}
		equal += n
		at++
	}
	from := equal
	for n := 0; n < before && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(a[:from])
		from -= size
	}
	return at, cut(a[from:]), cut(b[from:])
}

// cut is the beginning of a text, as long as around shows.
func cut(s string) string {
	n := 0
	for i := range s {
		if n++; n > before+after {
			return s[:i] + "…"
		}
	}
	return s
}
