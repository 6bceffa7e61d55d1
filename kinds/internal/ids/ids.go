package ids

import (
	"context"
	"slices"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

var idOutputs = []step.Output{
	{Name: "ids", Type: "docid/ids", Help: "identifier and decoder tokens of every document, by document number"},
	{Name: "report", Type: "docid/report", Help: "lengths, shared prefixes and distinct tokens, as JSON", Fields: step.FieldsOf[docid.Statistics]()},
}

type atomicIDsConfig struct {
	Documents  step.Input `hcl:"documents" accepts:"nq/documents" help:"collection"`
	FirstToken int        `hcl:"first_token,optional" min:"0" max:"2147483647" help:"token id of document 0: from the tokenizer's length, 32100 for T5, to the rows of the model's embedding, 32128; rows that exist keep their weights at first"`
	EOS        bool       `hcl:"eos,optional" help:"the target to train on is the token and an end of sequence; false: only the token, as the paper has it. Documents are ranked in the same way"`
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
	Check: inout.Checks(func(c atomicIDsConfig, ps *step.Problems) {
		inout.Check(ps, "eos_token", c.EOSToken < max(1, c.FirstToken), "want a token id below first_token")
	}),
	Work: func(atomicIDsConfig) step.Work { return step.Work{Identifiers: "atomic"} },
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
	Check: inout.Checks(func(c NaiveIDsConfig, ps *step.Problems) {
		inout.Check(ps, "times", c.Times == 0 || c.Times >= 1, "want 1 or more: every document needs a number")
		inout.Check(ps, "budget", (c.Budget == 0) != (c.Times == 0), "give exactly one of budget and times")
	}),
	Work:  func(NaiveIDsConfig) step.Work { return step.Work{Identifiers: "naive"} },
	Needs: step.Tokenizers,
})

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
	Work:     func(SemanticIDsConfig) step.Work { return step.Work{Identifiers: "semantic"} },
	Needs:    step.Tokenizers,
})

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
l x codes + c; documents with equal codes get one token more, after the tokens of all
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

type TitleIDsConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection, which has the titles"`
	Corpus    step.Input  `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the collection's documents, whose first words stand in for a missing title; needed if one is missing"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	MaxTokens int         `hcl:"max_tokens,optional" min:"1" help:"first tokens of a title that are used, special ones not counted"`
	Words     int         `hcl:"words,optional" min:"1" help:"words of a text that stand for a title"`
	Lowercase bool        `hcl:"lowercase,optional" help:"lower-case titles first"`
}

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
titles; the cost is their tokenization, 100,000 in 10 s on one core.`,
	Example: `step "title_ids" "nq" {
  documents = step.dedup.nq["title"].documents
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: append(idOutputs[:len(idOutputs):len(idOutputs)],
		step.Output{Name: "titles", Type: "docid/titles", Help: "documents with and without a title, and how many titles were cut or numbered, as JSON", Fields: step.FieldsOf[TitlesReport]()}),
	Defaults: TitleIDsConfig{MaxTokens: 24, Words: 8},
	Needs:    step.Tokenizers,
})

type KeywordIDsConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Corpus    step.Input  `hcl:"corpus" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Words     int         `hcl:"words,optional" min:"1" help:"words of an identifier"`
	K1        float64     `hcl:"k1,optional" min:"0" help:"BM25's k1: how soon further occurrences of a word count no more"`
	B         float64     `hcl:"b,optional" min:"0" max:"1" help:"BM25's b: how much the length of a document counts"`
	MaxTokens int         `hcl:"max_tokens,optional" min:"1" help:"first tokens of the words that are used, special ones not counted"`
}

type KeywordsReport struct {
	Documents  int `json:"documents"`
	Vocabulary int `json:"words"` // different words of all texts
	docid.TitleCounts
}

var KeywordIDs = step.Define(step.Kind[KeywordIDsConfig]{
	Name:    "keyword_ids",
	Version: 1,
	Doc: `Give every document the words of its text that tell it from others (not a type of the paper).
The words with the greatest weight by BM25, in Lucene's form, the greatest first; of equal words the one that
comes first in the text. Words are runs of letters and digits, in lower case. Identifiers of words are those of
Zhang et al., 2023 (term sets), who learn which words and let the model write them in any order; here the order is one.
Cut and numbered as titles are: kind title_ids. Cost: two passes through the texts; memory is their vocabulary and
the identifiers.`,
	Example: `step "keyword_ids" "title" {
  documents = step.dedup.nq["title"].documents
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: append(idOutputs[:len(idOutputs):len(idOutputs)],
		step.Output{Name: "keywords", Type: "docid/titles", Help: "how many different words there are, and how many identifiers were cut or numbered, as JSON", Fields: step.FieldsOf[KeywordsReport]()}),
	Defaults: KeywordIDsConfig{Words: 5, K1: 0.9, B: 0.4, MaxTokens: 24},
	Needs:    step.Tokenizers,
})

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
	Check: inout.Checks(func(c ImportIDsConfig, ps *step.Problems) {
		inout.CheckPattern(ps, "file", c.File)
	}),
	Needs: step.Tokenizers,
})

type TokensConfig struct {
	Tokenizer step.Inputs `hcl:"tokenizer,was=t5_tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Texts     []string    `hcl:"texts,optional" help:"decimal identifiers to show, such as the paper's"`
	IDs       step.Input  `hcl:"ids,optional" accepts:"docid/ids" help:"identifiers to show some of"`
	Tree      step.Input  `hcl:"tree,optional" accepts:"docid/tree" help:"hierarchy of semantic identifiers: adds prefix, leaf and index"`
	Documents []int       `hcl:"documents,optional" help:"numbers of the documents whose identifiers are shown; default: the first"`
}

var Tokens = step.Define(step.Kind[TokensConfig]{
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
	Outputs:  []step.Output{{Name: "report", Type: "docid/tokens", Help: "examples with text, pieces and tokens, as JSON", Fields: step.FieldsOf[TokensReport]()}},
	Defaults: TokensConfig{Documents: []int{0}},
	Needs:    step.Tokenizers,
})

type TokensReport struct {
	Examples []TokensExample `json:"examples"`
}

type TokensExample struct {
	Document string   `json:"document,omitempty"`
	Text     string   `json:"text"`
	Pieces   []string `json:"pieces"` // "▁" stands for the blank before a word
	Tokens   []int32  `json:"tokens"`

	Path          []string `json:"path,omitempty"` // cluster at each node, of semantic identifiers
	Prefix        string   `json:"prefix,omitempty"`
	Index         string   `json:"index,omitempty"` // within the leaf
	LeafDocuments int      `json:"leaf_documents,omitempty"`
}
