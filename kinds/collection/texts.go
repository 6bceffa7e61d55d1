package collection

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// recordTexts walks a corpus of all records beside their headers, so that no
// text is held but the present one. A nil recordTexts has nothing to walk.
type recordTexts struct {
	r       *corpus.Reader
	limit   int
	cased   bool
	present dedup.Text
}

// openTexts opens the corpus of a dedup step, if it has one.
func openTexts(x *step.IO, c dedupConfig) (*recordTexts, func(), error) {
	if !c.Texts.Set() {
		return nil, func() {}, nil
	}
	r, done, err := inout.OpenCorpus(x, c.Texts)
	if err != nil {
		return nil, nil, err
	}
	return &recordTexts{r: r, limit: c.TextLimit, cased: c.TextCased}, done, nil
}

// advance goes on to the text of the next header, and refuses another record's.
func (t *recordTexts) advance(h *nq.Header) error {
	if t == nil {
		return nil
	}
	d, err := t.r.Next()
	switch {
	case errors.Is(err, io.EOF):
		return step.Permanent(fmt.Errorf("texts end before %s example %d: serialize the same files, train before dev, without documents", h.Split, h.ExampleID))
	case err != nil:
		return inout.DataError(err)
	case d.ExampleID != h.ExampleID:
		return step.Permanent(fmt.Errorf("text %d is of example %d where %s example %d is expected: serialize the same files, train before dev, without documents", d.Doc, d.ExampleID, h.Split, h.ExampleID))
	}
	t.present = dedup.Text{Digest: dedup.TextDigest(d.Text, t.limit, !t.cased), Length: utf8.RuneCountInString(d.Text)}
	return nil
}

// finish refuses texts of records that have no header.
func (t *recordTexts) finish() error {
	if t == nil {
		return nil
	}
	d, err := t.r.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return inout.DataError(err)
	}
	return step.Permanent(fmt.Errorf("texts continue after the last record, with example %d", d.ExampleID))
}

// current is dedup.Sources.Text: the text of the header that advance was given.
func (t *recordTexts) current(*nq.Header) (dedup.Text, bool) { return t.present, true }
