package ids

import (
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/step"
)

// KeywordIDsConfig spells the words that tell documents apart.
type KeywordIDsConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Corpus    step.Input  `hcl:"corpus" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Words     int         `hcl:"words,optional" min:"1" help:"words of an identifier"`
	K1        float64     `hcl:"k1,optional" min:"0" help:"BM25's k1: how soon further occurrences of a word count no more"`
	B         float64     `hcl:"b,optional" min:"0" max:"1" help:"BM25's b: how much the length of a document counts"`
	MaxTokens int         `hcl:"max_tokens,optional" min:"1" help:"first tokens of the words that are used, special ones not counted"`
}

// KeywordsReport says how words became identifiers.
type KeywordsReport struct {
	Documents  int `json:"documents"`
	Vocabulary int `json:"words"` // different ones of all texts
	docid.TitleCounts
}

var KeywordIDs = step.Define(step.Kind[KeywordIDsConfig]{
	Name:    "keyword_ids",
	Version: 1,
	Doc: `Give every document the words of its text that tell it from others (not a type of the paper).
The words with the greatest weight by BM25, in Lucene's form, the greatest first; of equal ones the one that comes
first in the text. Words are runs of letters and digits, in lower case. Identifiers of words are those of
Zhang et al., 2023 (term sets), who learn which words and let the model write them in any order; here the order is one.
Cut and numbered as titles are: kind title_ids. Cost: two passes through the texts; memory is their vocabulary and
the identifiers.`,
	Example: `step "keyword_ids" "title" {
  documents = step.dedup.nq["title"].documents
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: append(idOutputs[:len(idOutputs):len(idOutputs)],
		step.Output{Name: "keywords", Type: "docid/titles", Help: "how many different words there are, and how many identifiers were cut or numbered, as JSON", Fields: step.FieldsOf[KeywordsReport]()}),
	Defaults: KeywordIDsConfig{Words: 5, K1: 0.9, B: 0.4, MaxTokens: 24},
	Needs:    step.Tokenizers,
})
