package ids

import (
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/step"
)

// TitleIDsConfig spells titles.
type TitleIDsConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection, which has the titles"`
	Corpus    step.Input  `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the collection's documents, whose first words stand in for a missing title; needed if one is missing"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	MaxTokens int         `hcl:"max_tokens,optional" min:"1" help:"first tokens of a title that are used, special ones not counted"`
	Words     int         `hcl:"words,optional" min:"1" help:"words of a text that stand for a title"`
	Lowercase bool        `hcl:"lowercase,optional" help:"lower-case titles first"`
}

// TitlesReport says where identifiers came from.
type TitlesReport struct {
	Documents int `json:"documents"`
	Titled    int `json:"titled_documents"`    // of whose titles the tokenizer can spell something
	FromText  int `json:"documents_from_text"` // whose first words stand for a title
	docid.TitleCounts
}

var TitleIDs = step.Define(step.Kind[TitleIDsConfig]{
	Name:    "title_ids",
	Version: 1,
	Doc: `Give every document its title, in the tokens of the model (not a type of the paper).
As in GENRE (De Cao et al., 2021). A document without a title that the tokenizer can spell takes the first words of
its text, or "untitled" if it can spell none of them. White space is one blank, and characters that the tokenizer has no token for
are left out. A title is cut after max_tokens tokens. Of documents with equal titles the first keeps it; the
next ones have " (2)", " (3)" and so on after it, the title cut further where that needs room. So the text of an
identifier is what its tokens spell, and validity by text and by tokens apply to the same texts. Memory is the
titles; cost is that of tokenizing them, 100,000 in 10 s on one core.`,
	Example: `step "title_ids" "nq" {
  documents = step.dedup.nq["title"].documents
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: append(idOutputs[:len(idOutputs):len(idOutputs)],
		step.Output{Name: "titles", Type: "docid/titles", Help: "documents with and without a title, and how many titles were cut or numbered, as JSON", Fields: step.FieldsOf[TitlesReport]()}),
	Defaults: TitleIDsConfig{MaxTokens: 24, Words: 8},
	Needs:    step.Tokenizers,
})
