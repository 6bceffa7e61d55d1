package compute

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/kinds/internal/collection"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runPrefixes(ctx context.Context, x *step.IO, c collection.PrefixesConfig) error {
	t5, err := openT5(x, c.T5)
	if err != nil {
		return err
	}
	defer t5.Close()
	shown := newPrefixExamples(c.Examples)
	p := dedup.PrefixReport{Tokens: c.Tokens}
	err = eachPrefix(ctx, x, t5, c, func(b corpus.Document, ia, ib []int32) {
		p.Add(ia, ib, t5.Unk)
		if at, ok := shown.wants(b.Title, slices.Contains(ia, t5.Unk), slices.Contains(ib, t5.Unk)); ok {
			shown.found[at] = &collection.PrefixExample{Title: b.Title, A: tokenize.CleanUp(t5.Decode(ia, false)), B: tokenize.CleanUp(t5.Decode(ib, false))}
		}
	})
	if err != nil {
		return err
	}
	rep := collection.PrefixReport{PrefixReport: p, Examples: []inout.Example[collection.PrefixExample]{}}
	for at, e := range shown.found {
		switch {
		case e != nil:
			rep.Examples = append(rep.Examples, inout.ExampleOf(x, *e, nil))
		case len(c.Examples) > 0:
			rep.Examples = append(rep.Examples, inout.ExampleOf(x, collection.PrefixExample{}, fmt.Errorf("no document has the title %q", c.Examples[at])))
		}
	}
	return inout.WriteReport(x, rep, map[string]int{"documents": p.Docs})
}

// eachPrefix visits the first tokens of a document's two texts.
func eachPrefix(ctx context.Context, x *step.IO, t5 *subword.T5, c collection.PrefixesConfig, visit func(b corpus.Document, ia, ib []int32)) error {
	ra, closeA, err := inout.OpenCorpus(x, c.A)
	if err != nil {
		return err
	}
	defer closeA()
	rb, closeB, err := inout.OpenCorpus(x, c.B)
	if err != nil {
		return err
	}
	defer closeB()
	n := int64(0)
	return inout.DataError(corpus.Zip(ra, rb, func(a, b corpus.Document) error {
		ta, tb := a.Text, b.Text
		if c.Lowercase {
			ta, tb = pytext.Lower(ta), pytext.Lower(tb)
		}
		visit(b, t5.PiecesPrefix(ta, c.Tokens), t5.PiecesPrefix(tb, c.Tokens))
		n++
		x.Report(step.Progress{Done: n, Unit: "documents"})
		return ctx.Err()
	}))
}

// prefixExamples chooses the documents to show: by the titles asked for, in that order, else the first two where only a
// has <unk>.
type prefixExamples struct {
	at    map[string]int // by title, lower-cased
	found []*collection.PrefixExample
}

func newPrefixExamples(titles []string) *prefixExamples {
	e := &prefixExamples{at: map[string]int{}, found: make([]*collection.PrefixExample, cmp.Or(len(titles), 2))}
	for i, t := range titles {
		e.at[pytext.Lower(t)] = i
	}
	return e
}

func (e *prefixExamples) wants(title string, unknownA, unknownB bool) (int, bool) {
	if len(e.at) > 0 {
		at, ok := e.at[pytext.Lower(title)]
		return at, ok && e.found[at] == nil
	}
	at := slices.Index(e.found, nil)
	return at, at >= 0 && unknownA && !unknownB
}

// runShares looks at the first tokens as first_tokens does by default, document by document.
func runShares(ctx context.Context, x *step.IO, c collection.SharesConfig) error {
	t5, err := openT5(x, c.T5)
	if err != nil {
		return err
	}
	defer t5.Close()
	p := collection.PrefixesConfig{A: c.A, B: c.B, Tokens: collection.FirstTokens, Lowercase: true}
	var texts []collection.PrefixShare
	err = eachPrefix(ctx, x, t5, p, func(_ corpus.Document, ia, ib []int32) {
		one := dedup.PrefixReport{Tokens: p.Tokens}
		one.Add(ia, ib, t5.Unk)
		texts = append(texts, collection.PrefixShare{Differ: one.Differ > 0, UnknownA: one.UnknownA > 0, UnknownB: one.UnknownB > 0})
	})
	if err != nil {
		return err
	}
	return collection.WriteShares(ctx, x, c, texts)
}
