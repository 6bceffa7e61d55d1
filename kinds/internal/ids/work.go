package ids

import (
	"math"

	"github.com/redsi/redsi/step"
)

// Lengths of identifiers before they are there, in tokens with their end: what identifiers of
// this type of the paper's collections have on average, or what the configuration bounds.
const (
	numberTokens = 4.0 // "▁14 19 13 </s>": a number of six digits
	pathTokens   = 4.0 // a path through clusters of ten, "▁18 510 </s>"
)

func (c atomicIDsConfig) work() step.Work {
	tokens := 1.0
	if c.EOS {
		tokens = 2
	}
	return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.Documents, OneToken: true, Tokens: tokens}}
}

func (c NaiveIDsConfig) work() step.Work {
	return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.Documents, Tokens: numberTokens}}
}

func (c SemanticIDsConfig) work() step.Work {
	return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.Documents, Tokens: pathTokens}}
}

func (c ResidualIDsConfig) work() step.Work {
	return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.Documents, Rows: c.Levels * c.Codes, Tokens: float64(c.Levels) + 1}}
}

// Titles have six tokens on average, if so many are taken.
func (c TitleIDsConfig) work() step.Work {
	return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.Documents, Tokens: math.Min(6, float64(c.MaxTokens)) + 1}}
}

func (c EmbedConfig) work() step.Work {
	return step.Work{Embeds: &step.Embedding{Model: c.Model, Corpus: c.Corpus, Queries: c.Queries, Split: c.Split, MaxTokens: c.MaxTokens, BatchTokens: c.BatchTokens}}
}

func (c KeywordIDsConfig) work() step.Work {
	return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.Documents, Tokens: math.Min(1.5*float64(c.Words), float64(c.MaxTokens)) + 1}}
}

// Of imported identifiers no more is known than their type.
func (c ImportIDsConfig) work() step.Work {
	return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.Documents, Tokens: pathTokens}}
}
