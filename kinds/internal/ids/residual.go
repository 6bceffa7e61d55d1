package ids

import (
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/step"
)

// ResidualIDsConfig spells the codes of residual quantization.
type ResidualIDsConfig struct {
	Documents  step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Embeddings step.Input  `hcl:"embeddings" accepts:"docid/embeddings" help:"one vector per document, in document order"`
	T5         step.Inputs `hcl:"t5_tokenizer" accepts:"files" help:"the model's tokenizer.json, for its end token, </s> of T5"`
	Levels     int         `hcl:"levels,optional" min:"1" help:"codes of a document"`
	Codes      int         `hcl:"codes,optional" min:"2" help:"clusters of a level, at most as many as there are documents"`
	Seed       int         `hcl:"seed,optional" min:"0" help:"for every k-means"`
	FirstToken int         `hcl:"first_token,optional" min:"0" help:"token id of code 0 of the first level: from the tokenizer's length to the rows of the model's embedding, 32128 for T5"`
}

var ResidualIDs = step.Define(step.Kind[ResidualIDsConfig]{
	Name:    "residual_ids",
	Version: 1,
	Doc: `Give every document the codes of residual quantization, in tokens of their own (not a type of the paper).
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
	Defaults: ResidualIDsConfig{Levels: 3, Codes: 256, Seed: 42, FirstToken: docid.FirstResidualToken},
	Needs:    step.Tokenizers,
})
