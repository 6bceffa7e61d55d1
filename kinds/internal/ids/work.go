package ids

import (
	"math"

	"github.com/redsi/redsi/step"
)

// Each kind of identifiers names their type.
func (atomicIDsConfig) work() step.Work   { return step.Work{Identifiers: "atomic"} }
func (NaiveIDsConfig) work() step.Work    { return step.Work{Identifiers: "naive"} }
func (SemanticIDsConfig) work() step.Work { return step.Work{Identifiers: "semantic"} }

// queryTokens are those of a query of Natural Questions, of 9.2 words on average, with the special ones.
const queryTokens = 14

// work is the tokens that are read, if all documents are as long as it reads; a vector is as wide as
// the paper's encoder makes it.
func (c EmbedConfig) work() step.Work {
	texts := step.Amount{Times: 1, Of: step.Inputs{c.Corpus}, Count: "documents"}
	tokens := float64(c.MaxTokens)
	if !c.Corpus.Set() {
		texts.Of, texts.Count = step.Inputs{c.Queries}, "records."+c.Split
		tokens = math.Min(queryTokens, tokens)
	}
	bytes := texts
	bytes.Times = 4 * 512
	texts.Times = tokens
	return step.Work{Does: []step.Doing{{Unit: step.Tokens, Amount: texts, Model: c.Model}}, Counts: map[string]step.Amount{step.BytesCount: bytes}}
}
