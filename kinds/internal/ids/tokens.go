package ids

import (
	"github.com/redsi/redsi/step"
)

// TokensConfig shows how identifiers become tokens.
type TokensConfig struct {
	Tokenizer step.Inputs `hcl:"tokenizer,was=t5_tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Texts     []string    `hcl:"texts,optional" help:"decimal identifiers to show, such as the paper's"`
	IDs       step.Input  `hcl:"ids,optional" accepts:"docid/ids" help:"identifiers to show some of"`
	Tree      step.Input  `hcl:"tree,optional" accepts:"docid/tree" help:"hierarchy of semantic identifiers: adds prefix, leaf and index"`
	Documents []int       `hcl:"documents,optional" help:"numbers of the documents whose identifiers are shown; default: the first"`
}

var Tokens = step.Define(step.Kind[TokensConfig]{
	Name:    "id_tokens",
	Version: 1,
	Inline:  true,
	Doc: `Show how identifiers are tokenized (the two figures of appendix "Semantic Identifiers").
Each with its pieces and vocabulary ids, </s> included; a semantic identifier of
a tree also with its path, its leaf and its index within it.`,
	Example: `step "id_tokens" "paper" {
  tokenizer = step.download.t5_tokenizer.files
  texts     = ["141913", "18510"]
}`,
	Outputs:  []step.Output{{Name: "report", Type: "docid/tokens", Help: "examples with text, pieces and tokens, as JSON", Fields: step.FieldsOf[TokensReport]()}},
	Defaults: TokensConfig{Documents: []int{0}},
	Needs:    step.Tokenizers,
})

type TokensReport struct {
	Examples []TokensExample `json:"examples"`
}

// TokensExample is one identifier.
type TokensExample struct {
	Document string   `json:"document,omitempty"`
	Text     string   `json:"text"`
	Pieces   []string `json:"pieces"` // "▁" stands for the blank before a word
	Tokens   []int32  `json:"tokens"`

	Path          []string `json:"path,omitempty"` // cluster at each node, of semantic identifiers
	Prefix        string   `json:"prefix,omitempty"`
	Index         string   `json:"index,omitempty"` // within the leaf
	LeafDocuments int      `json:"leaf_documents,omitempty"`
}
