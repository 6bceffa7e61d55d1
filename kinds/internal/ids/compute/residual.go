package compute

import (
	"context"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runResidualIDs(ctx context.Context, x *step.IO, c ids.ResidualIDsConfig) error {
	vectors, err := inout.ReadVectors(x, c.Embeddings)
	if err != nil {
		return err
	}
	names, tok, err := namesAndTokenizer(x, c.Documents, c.T5, "t5_tokenizer")
	if err != nil {
		return err
	}
	defer tok.Close()
	o := docid.ResidualOptions{Levels: c.Levels, Codes: c.Codes, FirstToken: int32(c.FirstToken), EOS: tok.End(), Seed: uint32(c.Seed),
		Progress: func(n int) { x.Report(step.Progress{Done: int64(n), Total: int64(c.Levels), Unit: "levels"}) }}
	set, quantization, err := docid.Residual(ctx, names, vectors, o)
	if err != nil {
		return inout.DataError(err)
	}
	x.Count("colliding_documents", int64(quantization.Colliding))
	return writeIDs(x, set, "quantization", quantization)
}
