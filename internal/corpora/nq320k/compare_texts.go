package nq320k

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
)

// digests tell texts apart, with and without regard to their white space.
type digests struct{ exact, spaced [16]byte }

func digestsOf(text string) *digests {
	return &digests{dedup.TextDigest(text, 0, false), dedup.TextDigest(strings.Join(strings.Fields(text), " "), 0, false)}
}

// texts compares the texts of pairs by their digests, then reads the texts to show.
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
	show := map[int32]int{}    // place in Differences, by document of the package
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
			case own.exact == theirs[p].exact:
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
			c.Differences = append(c.Differences, Difference{What: what, ExampleID: c.a.head(o).ID, OursDocument: &o, PackageDocument: &p})
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
	for _, at := range show { // also for documents without a text, which are not read below
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

// each visits a corpus of a collection with so many documents.
func each(c Collection, documents int, visit func(*corpus.Document)) error {
	r, done, err := c.Corpus()
	if err != nil {
		return err
	}
	defer done()
	for d, err := range r.All() {
		if err != nil {
			return err
		}
		if int(d.Doc) >= documents {
			return fmt.Errorf("the corpus has a document %d, the collection has %d documents", d.Doc, documents)
		}
		visit(&d)
	}
	return nil
}
