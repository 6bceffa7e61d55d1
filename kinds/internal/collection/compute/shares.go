package compute

import (
	"context"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/kinds/internal/collection"
	"github.com/redsi/redsi/step"
)

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
		one.Add(ia, ib, t5.Unk())
		texts = append(texts, collection.PrefixShare{Differ: one.Differ > 0, UnknownA: one.UnknownA > 0, UnknownB: one.UnknownB > 0})
	})
	if err != nil {
		return err
	}
	return collection.WriteShares(ctx, x, c, texts)
}
