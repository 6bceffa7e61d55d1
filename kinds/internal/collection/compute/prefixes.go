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
	found := make([]*collection.PrefixExample, cmp.Or(len(c.Examples), 2))
	places := map[string]int{} // by title, lower-cased
	for i, title := range c.Examples {
		places[pytext.Lower(title)] = i
	}
	p := dedup.PrefixReport{Tokens: c.Tokens}
	err = eachPrefix(ctx, x, t5, c, func(b corpus.Document, ia, ib []int32) {
		p.Add(ia, ib, t5.Unk)
		at, ok := places[pytext.Lower(b.Title)]
		if len(places) == 0 { // the first two where only a has <unk>
			at = slices.Index(found, nil)
			ok = at >= 0 && slices.Contains(ia, t5.Unk) && !slices.Contains(ib, t5.Unk)
		}
		if ok && found[at] == nil {
			text := func(tokens []int32) string { return tokenize.CleanUp(t5.Decode(tokens, false)) }
			found[at] = &collection.PrefixExample{Title: b.Title, A: text(ia), B: text(ib)}
		}
	})
	if err != nil {
		return err
	}
	rep := collection.PrefixReport{PrefixReport: p, Examples: []inout.Example[collection.PrefixExample]{}}
	for at, e := range found {
		switch {
		case e != nil:
			rep.Examples = append(rep.Examples, inout.ExampleOf(x, *e, nil))
		case len(c.Examples) > 0:
			rep.Examples = append(rep.Examples, inout.ExampleOf(x, collection.PrefixExample{}, fmt.Errorf("no document has the title %q", c.Examples[at])))
		}
	}
	return inout.WriteReport(x, rep, map[string]int{"documents": p.Docs})
}

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
