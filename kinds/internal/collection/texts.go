package collection

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// recordTexts identifies the text of every record, so that no text is held and their
// order does not matter; it takes some 100 bytes a record.
type recordTexts map[nq.Key]dedup.Text

// readTexts reads the corpus of a dedup step.
func readTexts(ctx context.Context, x *step.IO, c dedupConfig) (recordTexts, error) {
	texts := recordTexts{}
	return texts, inout.EachDocument(ctx, x, c.Texts, func(d *corpus.Document) error {
		key := nq.Key{Split: nq.Split(d.Split), ID: d.ExampleID}
		if d.Split == "" {
			return step.Permanent(fmt.Errorf("texts: document %d names no record: serialize without documents", d.Doc))
		}
		if _, ok := texts[key]; ok {
			return step.Permanent(fmt.Errorf("texts: %s example %d has two: serialize the records of each extract step once", key.Split, key.ID))
		}
		texts[key] = dedup.Text{Digest: dedup.TextDigest(d.Text, c.TextLimit, !c.TextCased), Length: utf8.RuneCountInString(d.Text)}
		return nil
	})
}

// of is dedup.Sources.Text.
func (t recordTexts) of(h *nq.Header) (dedup.Text, bool) {
	text, ok := t[nq.Key{Split: h.Split, ID: h.ExampleID}]
	return text, ok
}
