// Package compute is the half of kinds/internal/ids that needs libtorch or the tokenizers' library: it computes
// vectors, and spells identifiers in a model's tokens.
package compute

import (
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/step"
)

// Halves are what the kinds' declarations need.
var Halves = []step.Half{
	step.Compute(ids.Embed, runEmbed),
	step.Compute(ids.NaiveIDs, runNaiveIDs),
	step.Compute(ids.SemanticIDs, runSemanticIDs),
	step.Compute(ids.ResidualIDs, runResidualIDs),
	step.Compute(ids.TitleIDs, runTitleIDs),
	step.Compute(ids.KeywordIDs, runKeywordIDs),
	step.Compute(ids.ImportIDs, runImportIDs),
	step.Compute(ids.Tokens, runTokens),
}
