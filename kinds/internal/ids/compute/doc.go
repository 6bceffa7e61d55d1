// Package compute is the half of kinds/internal/ids that needs libtorch or the tokenizers' library: it computes
// vectors, and spells identifiers in a model's tokens.
package compute

import (
	"context"

	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

var Halves = []step.Half{
	step.Compute(ids.Embed, runEmbed),
	by(ids.NaiveIDs, runNaiveIDs, "tokenizer", func(c ids.NaiveIDsConfig) step.Inputs { return c.Tokenizer }),
	by(ids.SemanticIDs, runSemanticIDs, "tokenizer", func(c ids.SemanticIDsConfig) step.Inputs { return c.Tokenizer }),
	by(ids.ResidualIDs, runResidualIDs, "t5_tokenizer", func(c ids.ResidualIDsConfig) step.Inputs { return c.T5 }),
	by(ids.TitleIDs, runTitleIDs, "tokenizer", func(c ids.TitleIDsConfig) step.Inputs { return c.Tokenizer }),
	by(ids.KeywordIDs, runKeywordIDs, "tokenizer", func(c ids.KeywordIDsConfig) step.Inputs { return c.Tokenizer }),
	by(ids.ImportIDs, runImportIDs, "tokenizer", func(c ids.ImportIDsConfig) step.Inputs { return c.Tokenizer }),
	by(ids.Tokens, runTokens, "tokenizer", func(c ids.TokensConfig) step.Inputs { return c.Tokenizer }),
}

// spelling computes a kind with the model's tokenizer.
type spelling[C any] = func(context.Context, *step.IO, C, *subword.Subword) error

// by opens the tokenizer that an attribute of a configuration names, for run.
func by[C any](declared step.Spec, run spelling[C], attribute string, of func(C) step.Inputs) step.Half {
	return step.Compute(declared, func(ctx context.Context, x *step.IO, c C) error {
		tok, err := inout.OpenTokenizer(x, of(c), attribute, subword.LoadSubword)
		if err != nil {
			return err
		}
		defer tok.Close()
		return run(ctx, x, c, tok)
	})
}
