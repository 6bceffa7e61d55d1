package compute

import (
	"context"
	"errors"
	"math"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runNaiveIDs(_ context.Context, x *step.IO, c ids.NaiveIDsConfig) error {
	names, tok, err := namesAndTokenizer(x, c.Documents, c.Tokenizer, "tokenizer")
	if err != nil {
		return err
	}
	defer tok.Close()
	budget := uint64(c.Budget)
	if c.Times != 0 {
		budget = uint64(math.Ceil(c.Times * float64(len(names))))
	}
	set, err := docid.Naive(names, budget, uint64(c.Seed), docid.Generator(c.Generator), tok.EncodeBatch)
	if err != nil {
		return step.Permanent(err)
	}
	return inout.WriteIDs(x, set)
}

func runSemanticIDs(ctx context.Context, x *step.IO, c ids.SemanticIDsConfig) error {
	vectors, err := inout.ReadVectors(x, c.Embeddings)
	if err != nil {
		return err
	}
	names, tok, err := namesAndTokenizer(x, c.Documents, c.Tokenizer, "tokenizer")
	if err != nil {
		return err
	}
	defer tok.Close()
	o := docid.SemanticOptions{Clusters: c.Clusters, LeafSize: c.LeafSize, Seed: uint32(c.Seed), SameSeed: c.NodeSeeds == "same",
		Single: c.Precision == "float32", Starts: c.Starts, MaxIterations: c.Iterations, Tolerance: c.Tolerance,
		Progress: func(n, of int) { x.Report(step.Progress{Done: int64(n), Total: int64(of), Unit: "documents"}) }}
	if c.Tolerance == 0 {
		o.Tolerance = -1 // 0 is the default
	}
	set, tree, err := docid.Semantic(ctx, names, vectors, o, tok.EncodeBatch)
	if err != nil {
		return inout.DataError(err)
	}
	inout.Count(x, map[string]int{"leaves": len(tree.Leaves), "k_means": tree.Fits, "dealt_nodes": tree.Dealt})
	return writeIDs(x, set, "tree", tree)
}

// writeIDs writes identifiers, and what is to say of them as JSON.
func writeIDs(x *step.IO, set *docid.Set, output string, report any) error {
	return errors.Join(inout.WriteJSON(x, output, report), inout.WriteIDs(x, set))
}

// namesAndTokenizer are the documents' names and the model's tokenizer, the caller's to close.
func namesAndTokenizer(x *step.IO, documents step.Input, tokenizer step.Inputs, attribute string) ([]string, *subword.Subword, error) {
	names, err := inout.DocumentNames(x, documents)
	if err != nil {
		return nil, nil, err
	}
	tok, err := openTokenizer(x, tokenizer, attribute)
	return names, tok, err
}

// openTokenizer opens the model's tokenizer that an attribute names, the caller's to close.
func openTokenizer(x *step.IO, tokenizer step.Inputs, attribute string) (*subword.Subword, error) {
	return inout.OpenTokenizer(x, tokenizer, attribute, subword.LoadSubword)
}
