package compute

import (
	"context"
	"strings"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runTokens(_ context.Context, x *step.IO, c ids.TokensConfig) error {
	tok, err := openTokenizer(x, c.Tokenizer, "tokenizer")
	if err != nil {
		return err
	}
	defer tok.Close()
	examples := []ids.TokensExample{}
	for _, text := range c.Texts {
		examples = append(examples, ids.TokensExample{Text: text, Pieces: tok.Tokens(text), Tokens: tok.Encode(text)})
	}
	chosen, err := chosenIDs(x, c)
	if err != nil {
		return err
	}
	for _, id := range chosen {
		e := ids.TokensExample{Document: id.Document, Text: id.Text, Tokens: id.Tokens}
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
			locate(&examples[i], &tree)
		}
	}
	return inout.WriteJSON(x, "report", ids.TokensReport{Examples: examples})
}

func chosenIDs(x *step.IO, c ids.TokensConfig) ([]docid.Identifier, error) {
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
func locate(e *ids.TokensExample, t *docid.Tree) {
	for _, l := range t.Leaves {
		if index, ok := strings.CutPrefix(e.Text, l.Prefix); ok && index != "" {
			e.Prefix, e.Index, e.LeafDocuments = l.Prefix, index, l.Documents
			e.Path = strings.Split(l.Prefix, "")
			return
		}
	}
}
