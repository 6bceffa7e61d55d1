// Package compute is the half of kinds/internal/collection that needs the tokenizers' library.
package compute

import (
	"context"

	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/kinds/internal/collection"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

var Halves = []step.Half{
	withT5(collection.SerializeFile.Spec, collection.WriteTexts, func(c collection.SerializeFileConfig) step.Inputs { return c.T5 }),
	withT5(collection.Substitutions, collection.CountSubstitutions, func(c collection.SubstitutionsConfig) step.Inputs { return c.T5 }),
	withT5(collection.Excerpts, collection.WriteExcerpts, func(c collection.ExcerptsConfig) step.Inputs { return c.T5 }),
	step.Compute(collection.Prefixes, runPrefixes),
	step.Compute(collection.Shares, runShares),
}

// withT5 gives run what the T5 tokenizer of a configuration says, if it has one.
func withT5[C any](declared step.Spec, run func(context.Context, *step.IO, C, collection.Unknown) error, tokenizer func(C) step.Inputs) step.Half {
	return step.Compute(declared, func(ctx context.Context, x *step.IO, c C) error {
		if len(tokenizer(c)) == 0 {
			return run(ctx, x, c, nil)
		}
		t5, err := openT5(x, tokenizer(c))
		if err != nil {
			return err
		}
		defer t5.Close()
		return run(ctx, x, c, t5.HasUnknown)
	})
}

// openT5 opens the tokenizer that an attribute t5_tokenizer names, the caller's to close.
func openT5(x *step.IO, t5 step.Inputs) (*subword.T5, error) {
	return inout.OpenTokenizer(x, t5, "t5_tokenizer", subword.LoadT5)
}
