package ids

import (
	"context"
	"slices"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// idOutputs are what every kind of identifiers leaves.
var idOutputs = []step.Output{
	{Name: "ids", Type: "docid/ids", Help: "identifier and decoder tokens of every document, by document number"},
	{Name: "report", Type: "docid/report", Help: "lengths, shared prefixes and distinct tokens, as JSON", Fields: step.FieldsOf[docid.Statistics]()},
}

// atomicIDsConfig gives each document a token of its own.
type atomicIDsConfig struct {
	Documents  step.Input `hcl:"documents" accepts:"nq/documents" help:"collection"`
	FirstToken int        `hcl:"first_token,optional" min:"0" max:"2147483647" help:"token id of document 0: from the tokenizer's length, 32100 for T5, to the rows of the model's embedding, 32128; rows that exist keep their weights at first"`
	EOS        bool       `hcl:"eos,optional" help:"the target to train on is the token and an end of sequence; false: the token alone, as the paper has it. Documents are ranked in the same way"`
	EOSToken   int        `hcl:"eos_token,optional" min:"0" help:"token id of the end of sequence, for eos: 1 for T5, 2 for BART"`
}

var AtomicIDs = step.Define(step.Kind[atomicIDsConfig]{
	Name:    "atomic_ids",
	Version: 2,
	Doc: `Give every document one token of its own (section "Document identifiers").
Document n becomes <doc_n>, token first_token + n of the extended vocabulary, n with
the digits of the last one. With BART, first_token is 50265 and eos_token 2.`,
	Example: `step "atomic_ids" "title" {
  documents = step.dedup.nq["title"].documents
}`,
	Outputs:  idOutputs,
	Defaults: atomicIDsConfig{FirstToken: docid.FirstAtomicToken, EOSToken: 1},
	Check: func(c atomicIDsConfig) error {
		var ps step.Problems
		inout.Check(&ps, "eos_token", c.EOSToken < max(1, c.FirstToken), "want a token id below first_token")
		return ps.Err()
	},
	Work: atomicIDsConfig.work,
	Run: func(_ context.Context, x *step.IO, c atomicIDsConfig) error {
		names, err := inout.DocumentNames(x, c.Documents)
		if err != nil {
			return err
		}
		var eos []int32
		if c.EOS {
			eos = []int32{int32(c.EOSToken)}
		}
		set, err := docid.Atomic(names, int32(c.FirstToken), eos...)
		if err != nil {
			return step.Permanent(err)
		}
		return inout.WriteIDs(x, set)
	},
})

// NaiveIDsConfig assigns random numbers.
type NaiveIDsConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Tokenizer step.Inputs `hcl:"tokenizer,was=t5_tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Budget    int         `hcl:"budget,optional" min:"0" help:"identifiers are numbers below it; the paper follows DSI with 320,000"`
	Times     float64     `hcl:"times,optional" help:"budget as a multiple of the number of documents, rounded up, instead of budget"`
	Seed      int         `hcl:"seed,optional" min:"0" help:"for the permutation"`
	Generator string      `hcl:"generator,optional" enum:"python,pcg" help:"how the seed permutes the numbers: as Python's random.Random(seed).shuffle, or by a PCG generator, whose memory does not grow with the budget"`
}

var NaiveIDs = step.Define(step.Kind[NaiveIDsConfig]{
	Name:    "naive_ids",
	Version: 2,
	Doc: `Give every document a random number below a budget (figure "naive identifier").
The numbers are permuted by a seed; the k-th is document k's, written in decimal and
tokenized as the model is. Memory is 4 bytes x budget, with generator pcg none.`,
	Example: `step "naive_ids" "title" {
  documents = step.dedup.nq["title"].documents
  tokenizer = step.download.t5_tokenizer.files
  budget    = 320000
}`,
	Outputs:  idOutputs,
	Defaults: NaiveIDsConfig{Seed: 42, Generator: string(docid.GeneratorPython)},
	Check: func(c NaiveIDsConfig) error {
		var ps step.Problems
		inout.Check(&ps, "times", c.Times == 0 || c.Times >= 1, "want 1 or more: every document needs a number")
		inout.Check(&ps, "budget", (c.Budget == 0) != (c.Times == 0), "give exactly one of budget and times")
		return ps.Err()
	},
	Work:  NaiveIDsConfig.work,
	Needs: step.Tokenizers,
})

// SemanticIDsConfig spells paths through recursive clustering.
type SemanticIDsConfig struct {
	Documents  step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Embeddings step.Input  `hcl:"embeddings" accepts:"docid/embeddings" help:"one vector per document, in document order"`
	Tokenizer  step.Inputs `hcl:"tokenizer,was=t5_tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Clusters   int         `hcl:"clusters,optional" min:"2" max:"10" help:"clusters of each node, one digit each"`
	LeafSize   int         `hcl:"leaf_size,optional" min:"1" help:"clusters of at most this many documents are not split"`
	Seed       int         `hcl:"seed,optional" min:"0" max:"4294967295" help:"for the root's k-means"`
	NodeSeeds  string      `hcl:"node_seeds,optional" enum:"derived,same" help:"seeds of the other nodes: child c of a node with seed s has (s x 1,000,003 + c + 97) mod 2^32, or all have the root's"`
	Precision  string      `hcl:"precision,optional" enum:"float64,float32" help:"what k-means computes in"`
	Starts     int         `hcl:"n_init,optional" min:"1" help:"starts of a k-means, the best of which counts: KMeans's default is 1 since scikit-learn 1.4, 10 before"`
	Iterations int         `hcl:"max_iter,optional" min:"1" help:"most iterations of a k-means"`
	Tolerance  float64     `hcl:"tol,optional" min:"0" help:"a k-means ends when its centres move by less, relative to the variance of the vectors"`
}

var SemanticIDs = step.Define(step.Kind[SemanticIDsConfig]{
	Name:    "semantic_ids",
	Version: 2,
	Doc: `Give every document its path through recursive k-means (appendix "Semantic Identifiers").
scikit-learn's KMeans with its defaults, 10 clusters a node, leaves of at most
100; the index within the leaf follows. A node whose vectors are all equal deals its
documents to the clusters in turn; the tree counts such nodes. Cost: grows with
documents x dimensions x depth; memory is 12 bytes x documents x dimensions, in
float32 8. The result does not depend on the number of processors.`,
	Example: `step "semantic_ids" "title" {
  documents  = step.dedup.nq["title"].documents
  embeddings = step.embed.title.embeddings
  tokenizer  = step.download.t5_tokenizer.files
}`,
	Outputs: append(slices.Clone(idOutputs),
		step.Output{Name: "tree", Type: "docid/tree", Help: "every leaf with its prefix and number of documents, as JSON", Fields: step.FieldsOf[docid.Tree]()}),
	Defaults: SemanticIDsConfig{Clusters: 10, LeafSize: 100, Seed: 42, NodeSeeds: "derived", Precision: "float64", Starts: 1, Iterations: 300, Tolerance: 1e-4},
	Work:     SemanticIDsConfig.work,
	Needs:    step.Tokenizers,
})
