package collection

import (
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// PrefixesConfig compares two serializations within the model's first tokens.
type PrefixesConfig struct {
	A         step.Input  `hcl:"a" accepts:"nq/corpus" help:"one serialization"`
	B         step.Input  `hcl:"b" accepts:"nq/corpus" help:"another one of the same collection"`
	T5        step.Inputs `hcl:"t5_tokenizer" accepts:"files" help:"T5 tokenizer.json"`
	Tokens    int         `hcl:"tokens,optional" min:"1" help:"tokens that are compared"`
	Lowercase bool        `hcl:"lowercase,optional" help:"lower-case both texts first, as the paper's examples are"`
	Examples  []string    `hcl:"examples,optional" help:"titles whose first tokens are shown, for tab:ipa-tokenization-example; default: the first documents where only a has <unk>"`
}

// FirstTokens is how many the paper compares.
const FirstTokens = 32

var Prefixes = step.Define(step.Kind[PrefixesConfig]{
	Name:    "first_tokens",
	Version: 1,
	Doc: `Compare two serializations of each document within their first T5 tokens.
Counts documents that differ and documents with <unk> (section "Qualitative
Analysis of NQ320K"), and shows examples (tab:ipa-tokenization-example); one that the
collection does not have is counted and reported as absent.`,
	Example: `step "first_tokens" "forms" {
  a            = step.serialize.nci_norm.corpus
  b            = step.serialize.html_norm.corpus
  t5_tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs:  []step.Output{{Name: "report", Type: "serialize/first_tokens", Help: "dedup.PrefixReport and examples, as JSON", Fields: step.FieldsOf[PrefixReport]()}},
	Defaults: PrefixesConfig{Tokens: FirstTokens, Lowercase: true},
	Needs:    step.Tokenizers,
})

// PrefixReport is what first tokens have.
type PrefixReport struct {
	dedup.PrefixReport
	Examples []inout.Example[PrefixExample] `json:"examples"`
}

// PrefixExample is a document whose first tokens are shown.
type PrefixExample struct {
	Title string `json:"title"`
	A     string `json:"a"` // the first tokens as text, <unk> written out, as transformers' decode shows them
	B     string `json:"b"`
}
