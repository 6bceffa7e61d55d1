package ids

import (
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// EmbedConfig embeds texts by an encoder.
type EmbedConfig struct {
	inout.Texts
	Prefix      string      `hcl:"prefix,added" help:"put before every text and its title: \"query: \" and \"passage: \" of E5"`
	Model       step.Input  `hcl:"model" accepts:"files,hf/model" help:"Hugging Face folder of a BERT encoder: config.json and model.safetensors or pytorch_model.bin"`
	Tokenizer   step.Inputs `hcl:"tokenizer" accepts:"files" help:"the encoder's uncased WordPiece tokenizer.json, plain or compressed"`
	Pooling     string      `hcl:"pooling,optional" enum:"cls,mean,max" help:"vector of a text: the last hidden state of its first token, [CLS], as NCI takes it; or the mean or the largest of all tokens' with [CLS] and [SEP]; the paper does not say"`
	Normalize   bool        `hcl:"normalize,added" help:"vectors have unit length, so that their inner product is their cosine"`
	MaxTokens   int         `hcl:"max_tokens,optional" min:"2" help:"tokens of a text that are read, from its start, [CLS] and [SEP] included"`
	Precision   string      `hcl:"precision,added" enum:"fp32,bf16,int8" help:"of matrix products, whose sums are fp32, as norms and vectors are. bf16 gives other vectors, of a cosine with those of fp32 of 0.9999 (docs/models.md), and is slower than fp32 on processors without AVX512-BF16 or AMX; int8, on processors only, is faster still, and its vectors are of a cosine of 0.9998"`
	BatchTokens int         `hcl:"batch_tokens,optional,nokey" min:"1" help:"tokens that are computed together: memory grows with it, vectors differ by rounding only"`
	Device      string      `hcl:"device,optional,nokey" help:"cpu, cuda, cuda:1 …; auto: a free card of the worker, else the CPU"`
}

var Embed = step.Define(step.Kind[EmbedConfig]{
	Name:    "embed",
	Resumes: true, Counts: "document",
	Version: 2,
	Doc: `Embed each document, or each query of a split, by an encoder (appendix "Semantic Identifiers").
The paper's is google/bert_uncased_L-8_H-512_A-8 over the first 512 tokens of the
text; which text and which vector it does not say: here, the title in the document's
URL, the corpus's whole text, and the last hidden state of [CLS]. Texts stream; sequences are not padded.
Queries have one row each, in the order of their lines, as kind dense wants them.
Resumes, on any worker, at most 2,048 texts back.
Cost: one forward pass per text; memory is the model, batch_tokens x its
width, and 4 bytes x texts x hidden size for the vectors.`,
	Example: `step "embed" "title" {
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  documents = step.dedup.nq["title"].documents
  model     = step.download.bert.files
  tokenizer = step.download.bert_tokenizer.files
}`,
	Outputs: []step.Output{{Name: "embeddings", Type: "docid/embeddings", Help: ".npy, float32, one row per document or query",
		Alike: step.Vectors{Margin: step.Margin{Rel: 1e-3}, Cosine: 0.9999}, Why: "layers of float32 sums round differently on another processor; the order of neighbours stays"}},
	Defaults: EmbedConfig{Texts: inout.Texts{Split: "dev", Title: true}, Pooling: "cls", MaxTokens: 512, Precision: "fp32", BatchTokens: 8192, Device: "auto"},
	Queue:    step.GPU,
	Needs:    step.Libtorch,
	Device:   func(c EmbedConfig) string { return c.Device },
	Check: func(c EmbedConfig) error {
		return append(append(c.Texts.Check(), device.Check(c.Device)...), inout.CheckInt8(c.Precision, c.Device)...).Err()
	},
	Work: EmbedConfig.work,
})
