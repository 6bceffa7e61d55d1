package nq320k

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/system/words"
)

// Collection is one side of a comparison.
type Collection struct {
	Documents, Queries func() (io.ReadCloser, error)
	Corpus             func() (*corpus.Reader, func(), error) // opened twice if texts differ
}

// Comparison compares two collections. Documents are a pair if one's first record, dev first, belongs to the other.
type Comparison struct {
	AllSame   bool `json:"all_same"`
	Documents struct {
		Ours             int `json:"ours"`
		Package          int `json:"package"`
		Pairs            int `json:"pairs"`
		SameRecords      int `json:"same_records"`      // pairs that have the same records
		SameNumber       int `json:"same_number"`       // pairs
		OnlyOurs         int `json:"only_ours"`         // documents without a record in the package
		OnlyPackage      int `json:"only_package"`      // documents without a record in ours
		RegroupedOurs    int `json:"regrouped_ours"`    // documents whose records are in documents that pair with others
		RegroupedPackage int `json:"regrouped_package"` // the same, of the package
	} `json:"documents"`
	Titles struct {
		Same   int `json:"same"`
		Differ int `json:"differ"`
	} `json:"titles"` // of pairs
	Texts struct {
		Same            int `json:"same"`
		OnlyWhiteSpace  int `json:"only_white_space"` // differ only in white space
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

type Difference struct {
	What            string `json:"what"`                       // such as "text"
	ExampleID       int64  `json:"example_id"`                 // of a query, or of a document's first record
	OursDocument    *int32 `json:"ours_document,omitempty"`    // its number
	PackageDocument *int32 `json:"package_document,omitempty"` // its number
	At              int    `json:"at,omitempty"`               // code points that are equal before it
	Ours            string `json:"ours"`
	Package         string `json:"package"`
}

// Compare compares a collection of ours with a package. It streams texts and holds in memory 150 bytes of each document and
// query, titles and questions. It shows at most limit differences of a kind.
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

type comparison struct {
	*Comparison
	a, b  *side // ours, the package's
	limit int
	shown map[string]int // differences by kind, also beyond the limit
}

// room counts a difference of a kind, and reports whether to show it.
func (c *comparison) room(what string) bool {
	c.shown[what]++
	return c.shown[what] <= c.limit
}

// show completes a difference, and shows it if there is room.
func (c *comparison) show(d Difference, what, ours, theirs string) {
	d.What, d.Ours, d.Package = what, ours, theirs
	if c.room(what) {
		c.Differences = append(c.Differences, d)
	}
}

func (c *comparison) showPlace(d Difference, what, ours, theirs string) {
	d.At, ours, theirs = around(ours, theirs)
	c.show(d, what, ours, theirs)
}

// The code points that around shows before and from a difference.
const (
	before = 40
	after  = 80
)

// around returns the first place where two texts differ, in code points, and each text around it.
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
	return at, words.Clip(a[from:], before+after), words.Clip(b[from:], before+after)
}

func (c *comparison) pair() {
	for p := range c.b.first {
		o := c.a.target(c.b.head(int32(p)))
		if o >= 0 && c.b.target(c.a.head(o)) == int32(p) {
			c.a.pair[o], c.b.pair[p] = int32(p), o
		}
	}
}

func (c *comparison) documents() {
	d := &c.Documents
	d.Ours, d.Package = len(c.a.titles), len(c.b.titles)
	shared := make([]int32, d.Ours) // records that a document has in common with its pair
	for _, q := range c.a.queries {
		if p := c.b.target(q.Key); p >= 0 && p == c.a.pair[q.doc] {
			shared[q.doc]++
		}
	}
	for i, p := range c.a.pair {
		o := int32(i)
		if p < 0 {
			continue
		}
		d.Pairs++
		diff := Difference{ExampleID: c.a.head(o).ID, OursDocument: &o, PackageDocument: &p}
		if shared[o] == c.a.size[o] && shared[o] == c.b.size[p] {
			d.SameRecords++
		} else {
			c.show(diff, "records", fmt.Sprintf("%d records, %d of them shared", c.a.size[o], shared[o]), fmt.Sprintf("%d records", c.b.size[p]))
		}
		if o == p {
			d.SameNumber++
		} else {
			c.show(diff, "number", fmt.Sprint(o), fmt.Sprint(p))
		}
		if c.a.titles[o] == c.b.titles[p] {
			c.Titles.Same++
		} else {
			c.Titles.Differ++
			c.showPlace(diff, "title", c.a.titles[o], c.b.titles[p])
		}
	}
	d.OnlyOurs, d.RegroupedOurs = c.unpaired(c.a, c.b, "ours")
	d.OnlyPackage, d.RegroupedPackage = c.unpaired(c.b, c.a, "package")
}

// unpaired counts a side's documents without a pair: documents whose records the other side lacks, or groups differently.
func (c *comparison) unpaired(s, other *side, name string) (only, regrouped int) {
	shared := make([]bool, len(s.titles)) // a record of the document is on the other side
	for _, q := range s.queries {
		shared[q.doc] = shared[q.doc] || other.find(q.Key) >= 0
	}
	for i, pair := range s.pair {
		doc := int32(i)
		if pair >= 0 {
			continue
		}
		what := "only in " + name
		if shared[doc] {
			regrouped++
			what = "regrouped in " + name
		} else {
			only++
		}
		if diff := (Difference{ExampleID: s.head(doc).ID}); s == c.a {
			diff.OursDocument = &doc
			c.show(diff, what, s.titles[doc], "")
		} else {
			diff.PackageDocument = &doc
			c.show(diff, what, "", s.titles[doc])
		}
	}
	return only, regrouped
}

func (c *comparison) queries() {
	n := &c.Queries
	n.Ours, n.Package = len(c.a.queries), len(c.b.queries)
	for i := range c.a.queries {
		o := &c.a.queries[i]
		at := c.b.find(o.Key)
		if at < 0 {
			n.OnlyOurs++
			c.show(Difference{ExampleID: o.ID, OursDocument: &o.doc}, "query only in ours", o.question, "")
			continue
		}
		p := &c.b.queries[at]
		n.Both++
		diff := Difference{ExampleID: o.ID, OursDocument: &o.doc, PackageDocument: &p.doc}
		if o.Split != p.Split {
			n.OtherSplit++
			c.show(diff, "split", string(o.Split), string(p.Split))
		}
		if o.question != p.question {
			n.OtherText++
			c.showPlace(diff, "question", o.question, p.question)
		}
		if c.a.pair[o.doc] != p.doc {
			n.OtherTarget++
			c.show(diff, "target", c.a.titles[o.doc], c.b.titles[p.doc])
		}
	}
	for i := range c.b.queries {
		if p := &c.b.queries[i]; c.a.find(p.Key) < 0 {
			n.OnlyPackage++
			c.show(Difference{ExampleID: p.ID, PackageDocument: &p.doc}, "query only in package", "", p.question)
		}
	}
}
