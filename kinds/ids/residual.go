package ids

import (
	"context"

	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/subword"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// residualIDsConfig spells the codes of residual quantization.
type residualIDsConfig struct {
	Documents  step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Embeddings step.Input  `hcl:"embeddings" accepts:"docid/embeddings" help:"one vector per document, in document order"`
	T5         step.Inputs `hcl:"t5_tokenizer" accepts:"files" help:"the model's tokenizer.json, for its end token, </s> of T5"`
	Levels     int         `hcl:"levels,optional" help:"codes of a document"`
	Codes      int         `hcl:"codes,optional" help:"clusters of a level, at most as many as there are documents"`
	Seed       int         `hcl:"seed,optional" help:"of every k-means"`
	FirstToken int         `hcl:"first_token,optional" help:"token id of code 0 of the first level: from the tokenizer's length to the rows of the model's embedding, 32128 for T5"`
}

var ResidualIDs = step.Define(step.Kind[residualIDsConfig]{
	Name:    "residual_ids",
	Version: 1,
	Doc: `Give every document the codes of residual quantization, in tokens of their own (no type of the paper).
As in TIGER (Rajput et al., 2023), with k-means in place of an RQ-VAE: the first level
clusters the embeddings, each further one what the centres before it leave of them, by
scikit-learn's KMeans with its defaults. Code c of level l is token first_token +
l x codes + c; documents with equal codes get one token more, after those of all
codes, which tells them apart. Cost: grows with documents x dimensions x codes x
levels; memory is 12 bytes x documents x dimensions. The result does not depend on the
number of processors.`,
	Example: `step "residual_ids" "title" {
  documents    = step.dedup.nq["title"].documents
  embeddings   = step.embed.title.embeddings
  t5_tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: append(idOutputs[:len(idOutputs):len(idOutputs)],
		step.Output{Name: "quantization", Type: "docid/quantization", Help: "codes and mean squared reconstruction error of every level, and the documents with equal codes, as JSON", Fields: step.FieldsOf[docid.Quantization]()}),
	Defaults: residualIDsConfig{Levels: 3, Codes: 256, Seed: 42, FirstToken: docid.FirstResidualToken},
	Check: func(c residualIDsConfig) error {
		var ps step.Problems
		inout.Check(&ps, "levels", c.Levels >= 1, "must be at least 1")
		inout.Check(&ps, "codes", c.Codes >= 2, "must be at least 2")
		inout.Check(&ps, "seed", c.Seed >= 0, "must not be negative")
		inout.Check(&ps, "first_token", c.FirstToken >= 0, "must not be negative")
		return ps.Err()
	},
	Work: residualIDsConfig.work,
	Run:  runResidualIDs,
})

func runResidualIDs(ctx context.Context, x *step.IO, c residualIDsConfig) error {
	names, err := documentNames(x, c.Documents)
	if err != nil {
		return err
	}
	vectors, err := inout.ReadVectors(x, c.Embeddings)
	if err != nil {
		return err
	}
	path, err := inout.OnlyFile(x, c.T5, "t5_tokenizer")
	if err != nil {
		return err
	}
	tok, err := subword.LoadSubword(path)
	if err != nil {
		return step.Permanent(err)
	}
	defer tok.Close()
	o := docid.ResidualOptions{Levels: c.Levels, Codes: c.Codes, FirstToken: int32(c.FirstToken), EOS: tok.End(), Seed: uint32(c.Seed),
		Progress: func(n int) { x.Report(step.Progress{Done: int64(n), Total: int64(c.Levels), Unit: "levels"}) }}
	set, quantization, err := docid.Residual(ctx, names, vectors, o)
	if err != nil {
		return inout.DataError(err)
	}
	x.Count("colliding_documents", int64(quantization.Colliding))
	if err := inout.WriteJSON(x, "quantization", quantization); err != nil {
		return err
	}
	return writeIDs(x, set)
}
