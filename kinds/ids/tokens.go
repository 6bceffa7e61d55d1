package ids

import (
	"context"
	"strings"

	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/subword"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// tokensConfig shows how identifiers become tokens.
type tokensConfig struct {
	Tokenizer step.Inputs `hcl:"tokenizer,was=t5_tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Texts     []string    `hcl:"texts,optional" help:"decimal identifiers to show, such as the paper's"`
	IDs       step.Input  `hcl:"ids,optional" accepts:"docid/ids" help:"identifiers to show some of"`
	Tree      step.Input  `hcl:"tree,optional" accepts:"docid/tree" help:"hierarchy of semantic identifiers: adds prefix, leaf and index"`
	Documents []int       `hcl:"documents,optional" help:"numbers of the documents whose identifiers are shown; default: the first"`
}

var Tokens = step.Define(step.Kind[tokensConfig]{
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
	Outputs:  []step.Output{{Name: "report", Type: "docid/tokens", Help: "examples with text, pieces and tokens, as JSON", Fields: step.FieldsOf[tokensReport]()}},
	Defaults: tokensConfig{Documents: []int{0}},
	Run:      runTokens,
})

type tokensReport struct {
	Examples []tokensExample `json:"examples"`
}

// tokensExample is one identifier.
type tokensExample struct {
	Document string   `json:"document,omitempty"`
	Text     string   `json:"text"`
	Pieces   []string `json:"pieces"` // "▁" stands for the blank before a word
	Tokens   []int32  `json:"tokens"`

	Path          []string `json:"path,omitempty"` // cluster at each node, of semantic identifiers
	Prefix        string   `json:"prefix,omitempty"`
	Index         string   `json:"index,omitempty"` // within the leaf
	LeafDocuments int      `json:"leaf_documents,omitempty"`
}

func runTokens(_ context.Context, x *step.IO, c tokensConfig) error {
	path, err := inout.OnlyFile(x, c.Tokenizer, "tokenizer")
	if err != nil {
		return err
	}
	tok, err := subword.LoadSubword(path)
	if err != nil {
		return step.Permanent(err)
	}
	defer tok.Close()
	examples := []tokensExample{}
	for _, text := range c.Texts {
		examples = append(examples, tokensExample{Text: text, Pieces: tok.Tokens(text), Tokens: tok.Encode(text)})
	}
	chosen, err := chosenIDs(x, c)
	if err != nil {
		return err
	}
	for _, id := range chosen {
		e := tokensExample{Document: id.Document, Text: id.Text, Tokens: id.Tokens}
		parts := strings.Split(id.Text, "-") // an atomic identifier is one, a residual one has a part for each code
		for i, t := range id.Tokens {
			piece, ok := tok.Piece(t)
			if !ok {
				piece = parts[min(i, len(parts)-1)] // a token of its own
			}
			e.Pieces = append(e.Pieces, piece)
		}
		examples = append(examples, e)
	}
	if c.Tree.Set() {
		var tree docid.Tree
		if err := inout.ReadJSON(x, c.Tree, &tree); err != nil {
			return err
		}
		for i := range examples {
			examples[i].locate(&tree)
		}
	}
	return inout.WriteJSON(x, "report", tokensReport{examples})
}

func chosenIDs(x *step.IO, c tokensConfig) ([]docid.Identifier, error) {
	if !c.IDs.Set() {
		return nil, nil
	}
	set, err := inout.ReadIDs(x, c.IDs)
	if err != nil {
		return nil, err
	}
	var out []docid.Identifier
	pairing := set.PairWith("the attribute documents")
	for _, n := range c.Documents {
		place, err := pairing.Find(n)
		if err != nil {
			return nil, step.Permanent(err)
		}
		out = append(out, set.Identifiers[place])
	}
	return out, nil
}

// locate finds the leaf: no leaf's prefix begins another's.
func (e *tokensExample) locate(t *docid.Tree) {
	for _, l := range t.Leaves {
		if index, ok := strings.CutPrefix(e.Text, l.Prefix); ok && index != "" {
			e.Prefix, e.Index, e.LeafDocuments = l.Prefix, index, l.Documents
			e.Path = strings.Split(l.Prefix, "")
			return
		}
	}
}
