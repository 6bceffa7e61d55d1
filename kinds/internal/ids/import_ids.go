package ids

import (
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// ImportIDsConfig takes identifiers that others made.
type ImportIDsConfig struct {
	Documents  step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Files      step.Inputs `hcl:"files" accepts:"files,file,hub/dataset" help:"identifiers, plain or compressed: JSON lines with the fields document, text and tokens, or columns with tabs between them: document, text and, optionally, tokens with blanks between them"`
	File       string      `hcl:"file,optional" help:"which of the files, by name, * and ? for parts of it, such as identifiers/title.jsonl.gz of kind export; default: all"`
	Tokenizer  step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Type       string      `hcl:"type,optional" enum:"other,naive,semantic,residual,title,keyword" help:"what they are; residual ones have tokens of their own, which the model's vocabulary grows by"`
	Names      string      `hcl:"names,optional" enum:"key,number" help:"what the files call a document: its key, which is its name outside redsi, or its number in the collection, from 0"`
	Vocabulary int         `hcl:"vocabulary,optional" min:"0" help:"rows of the model's embedding, which token ids must be below; 0: as many as the tokenizer has"`
}

var ImportIDs = step.Define(step.Kind[ImportIDsConfig]{
	Name:    "import_ids",
	Version: 1,
	Doc: `Import identifiers made elsewhere.
A line for each document has its identifier as text, as token ids of the model, or as both. Of a text alone the tokens
are what the tokenizer gives; of tokens alone the text is what they spell; special tokens around them, such as </s>,
are added where they are left out. Checked: every document has one, no two the same, a text is what its tokens spell,
tokens are in the vocabulary. Kind export writes such files. Memory: the identifiers.`,
	Example: `step "import_ids" "theirs" {
  documents = step.dedup.nq["title"].documents
  files     = step.download.theirs.files
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs:  idOutputs,
	Defaults: ImportIDsConfig{Type: string(docid.KindOther), Names: "key"},
	Check: func(c ImportIDsConfig) error {
		var ps step.Problems
		inout.CheckPattern(&ps, "file", c.File)
		return ps.Err()
	},
	Needs: step.Tokenizers,
})
