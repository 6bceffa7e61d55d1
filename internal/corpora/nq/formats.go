package nq

import (
	"crypto/sha256"
	"fmt"
)

// Key names a record: an example id is unique within its split.
type Key struct {
	Split Split
	ID    int64
}

func (r *Record) Key() Key { return Key{r.Split, r.ExampleID} }

// FormatReport says how far the two published formats say the same.
type FormatReport struct {
	Full           int             `json:"full"`
	Simplified     int             `json:"simplified"`
	Both           int             `json:"both"`
	Same           int             `json:"same"`
	Questions      int             `json:"other_question"`
	URLs           int             `json:"other_url"`
	Texts          int             `json:"other_text"`
	OnlySimplified int             `json:"only_simplified"`
	Examples       []FormatExample `json:"examples"` // the first that differ
}

type FormatExample struct {
	ExampleID int64 `json:"example_id"`
	Comparison
}

// Comparison says how the two formats of one example relate.
type Comparison struct {
	SameQuestion bool
	SameURL      bool
	SameText     bool // document_text equals SimplifiedText(document_tokens)
	FirstDiff    int  // byte offset of the first difference of the texts, -1 if SameText
}

// Formats compares full and simplified records of the same examples: add all full records, then all simplified records;
// then, if Differ, call Show for the full records. Memory is 50 bytes a record, and the examples.
type Formats struct {
	report FormatReport
	full   map[Key]formatDigests
	most   int                // examples
	differ map[Key]*differing // the examples
	order  []*differing
}

// differing is a simplified record that differs from the full one, and how, once that is shown.
type differing struct {
	simplified *Record
	Comparison
}

// formatDigests are the parts of a record that both formats have.
type formatDigests struct{ question, url, text [12]byte }

// NewFormats returns a comparison that keeps at most so many differing examples, the first.
func NewFormats(examples int) *Formats {
	return &Formats{full: map[Key]formatDigests{}, most: examples, differ: map[Key]*differing{}}
}

func digestsOf(r *Record) formatDigests {
	digest := func(s string) [12]byte {
		sum := sha256.Sum256([]byte(s))
		return [12]byte(sum[:12])
	}
	return formatDigests{digest(r.Question), digest(r.URL), digest(r.SimplifiedText())}
}

func (f *Formats) AddFull(r *Record) error {
	if !r.Full() {
		return fmt.Errorf("full: example %d is in the simplified format", r.ExampleID)
	}
	f.full[r.Key()] = digestsOf(r)
	return nil
}

func (f *Formats) AddSimplified(r *Record) error {
	if r.Full() {
		return fmt.Errorf("simplified: example %d is in the full format", r.ExampleID)
	}
	rep := &f.report
	rep.Simplified++
	a, ok := f.full[r.Key()]
	if !ok {
		rep.OnlySimplified++
		return nil
	}
	rep.Both++
	b := digestsOf(r)
	if a == b {
		rep.Same++
		return nil
	}
	for n, differs := range map[*int]bool{&rep.Questions: a.question != b.question, &rep.URLs: a.url != b.url, &rep.Texts: a.text != b.text} {
		if differs {
			*n++
		}
	}
	if len(f.order) < f.most {
		d := f.differ[r.Key()]
		if d == nil {
			d = &differing{}
			f.differ[r.Key()] = d
		}
		d.simplified = r.Clone()
		f.order = append(f.order, d)
	}
	return nil
}

func (f *Formats) Differ() bool { return len(f.order) > 0 }

// Show finds where a full record differs, if it is one of the examples.
func (f *Formats) Show(full *Record) error {
	d := f.differ[full.Key()]
	if d == nil {
		return nil
	}
	s, text := d.simplified, SimplifiedText(full.Tokens)
	d.Comparison = Comparison{SameQuestion: full.Question == s.Question, SameURL: full.URL == s.URL, SameText: text == s.Text, FirstDiff: -1}
	if !d.SameText {
		for d.FirstDiff = 0; d.FirstDiff < min(len(text), len(s.Text)) && text[d.FirstDiff] == s.Text[d.FirstDiff]; {
			d.FirstDiff++
		}
	}
	return nil
}

func (f *Formats) Report() FormatReport {
	rep := f.report
	rep.Full, rep.Examples = len(f.full), []FormatExample{}
	for _, d := range f.order {
		rep.Examples = append(rep.Examples, FormatExample{d.simplified.ExampleID, d.Comparison})
	}
	return rep
}
