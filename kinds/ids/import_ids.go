package ids

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importIDsConfig takes identifiers that others made.
type importIDsConfig struct {
	Documents  step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Files      step.Inputs `hcl:"files" accepts:"files,file,hub/dataset" help:"identifiers, plain or compressed: JSON lines with the fields document, text and tokens, or columns with tabs between them: document, text and, optionally, tokens with blanks between them"`
	File       string      `hcl:"file,optional" help:"which of the files, by name, * and ? for parts of it, such as identifiers/title.jsonl.gz of kind export; default: all"`
	Tokenizer  step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Type       string      `hcl:"type,optional" enum:"other,naive,semantic,residual,title,keyword" help:"what they are; residual ones have tokens of their own, which the model's vocabulary grows by"`
	Names      string      `hcl:"names,optional" enum:"key,number" help:"what the files call a document: its key, which is its name outside, or its number in the collection, from 0"`
	Vocabulary int         `hcl:"vocabulary,optional" help:"rows of the model's embedding, of which tokens are; 0: as many as the tokenizer has"`
}

var ImportIDs = step.Define(step.Kind[importIDsConfig]{
	Name:    "import_ids",
	Version: 1,
	Doc: `Take identifiers that others made.
A line for each document has its identifier as text, as token ids of the model, or as both. Of a text alone the tokens
are what the tokenizer gives; of tokens alone the text is what they spell; special tokens around them, such as </s>,
are added where they are left out. Checked: every document has one, no two the same, a text is what its tokens spell,
tokens are of the vocabulary. Kind export writes such files. Memory: the identifiers.`,
	Example: `step "import_ids" "theirs" {
  documents = step.dedup.nq["title"].documents
  files     = step.download.theirs.files
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs:  idOutputs,
	Defaults: importIDsConfig{Type: string(docid.KindOther), Names: "key"},
	Check: func(c importIDsConfig) error {
		if c.Vocabulary < 0 {
			return step.Problems{{Path: "vocabulary", Detail: "must not be negative"}}
		}
		if _, err := path.Match(c.File, ""); err != nil {
			return step.Problems{{Path: "file", Detail: "is no pattern of names: a [ does not end"}}
		}
		return nil
	},
	Work: importIDsConfig.work,
	Run:  runImportIDs,
})

func runImportIDs(ctx context.Context, x *step.IO, c importIDsConfig) error {
	r, err := x.Open(c.Documents)
	if err != nil {
		return err
	}
	defer r.Close()
	var numbers, names []string
	err = dedup.ReadDocuments(r, func(d *dedup.Document) error {
		number := strconv.Itoa(int(d.Doc))
		name := d.Key
		if c.Names == "number" {
			name = number
		}
		numbers, names = append(numbers, number), append(names, name)
		return nil
	})
	if err != nil {
		return inout.DataError(err)
	}
	tok, err := openTokenizer(x, c.Tokenizer)
	if err != nil {
		return err
	}
	defer tok.Close()
	vocabulary := c.Vocabulary
	if vocabulary == 0 {
		vocabulary = tok.VocabSize()
	}
	f, err := docid.NewForeigners(docid.Kind(c.Type), numbers, names, tok, vocabulary)
	if err != nil {
		return step.Permanent(err)
	}
	err = inout.EachRecord(x, c.Files, "identifiers", c.File, func(r inout.Record) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		id, err := foreignID(r)
		if err != nil {
			return err
		}
		return f.Add(id)
	})
	if err != nil {
		return err
	}
	set, err := f.Set()
	if err != nil {
		return step.Permanent(fmt.Errorf("files: %w", err))
	}
	return writeIDs(x, set)
}

// foreignID reads a line's identifier.
func foreignID(r inout.Record) (docid.Foreign, error) {
	id := docid.Foreign{Place: r.Place, Document: r.Document}
	var err error
	if id.Text, err = r.Text(0, "text", "identifier"); err != nil {
		return id, err
	}
	if err = r.List(&id.Tokens, "tokens"); err != nil {
		return id, err
	}
	words, err := r.Text(1)
	if err != nil {
		return id, err
	}
	for word := range strings.FieldsSeq(words) {
		t, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return id, fmt.Errorf("%s: token %.20q is not a token id", r.Place, word)
		}
		id.Tokens = append(id.Tokens, int32(t))
	}
	return id, nil
}
