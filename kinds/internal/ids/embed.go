package ids

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/pytext"
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
	Check: inout.Checks(func(c EmbedConfig, ps *step.Problems) {
		c.Texts.Check(ps)
		inout.CheckDevice(ps, c.Device, c.Precision)
	}),
	Work: EmbedConfig.work,
})

type embedHashingConfig struct {
	inout.Texts
	Dimensions int `hcl:"dimensions,optional" min:"1" help:"length of the vectors"`
	Words      int `hcl:"words,optional" min:"1" help:"words of each text that are read, from its start"`
}

var EmbedHashing = step.Define(step.Kind[embedHashingConfig]{
	Name:    "embed_hashing",
	Version: 2,
	Doc: `Embed each document or query by feature hashing of its words, without a model.
Each lower-cased word adds ±(1 + log count) at a hashed position; vectors have
unit length. A stand-in for embed where no weights are at hand. Cost: reading the
texts; memory is 4 bytes x documents x dimensions.`,
	Example: `step "embed_hashing" "title" {
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  documents = step.dedup.nq["title"].documents
}`,
	Outputs: []step.Output{{Name: "embeddings", Type: "docid/embeddings", Help: ".npy, float32, one row per document or query",
		Alike: step.Vectors{Margin: step.Margin{Rel: 1e-6}, Cosine: 1 - 1e-9}, Why: "a processor that multiplies and adds at once rounds a sum differently"}},
	Defaults: embedHashingConfig{Texts: inout.Texts{Split: "dev", Title: true}, Dimensions: 512, Words: 512},
	Check:    inout.Checks(func(c embedHashingConfig, ps *step.Problems) { c.Texts.Check(ps) }),
	Run: func(ctx context.Context, x *step.IO, c embedHashingConfig) error {
		m := npy.Matrix{Cols: c.Dimensions}
		for text, err := range c.Texts.Each(x) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			m.Data = append(m.Data, hashWords(text, c.Words, c.Dimensions)...)
			m.Rows++
		}
		return inout.WriteVectors(x, m, c.Texts.Unit())
	},
})

// hashWords is the signed hashing trick over a text's first words.
func hashWords(text string, words, dimensions int) []float32 {
	counts := map[string]int{}
	var order []string // of first occurrence: sums must not depend on map order
	for w := range strings.FieldsFuncSeq(pytext.Lower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if words--; words < 0 {
			break
		}
		if counts[w]++; counts[w] == 1 {
			order = append(order, w)
		}
	}
	v := make([]float64, dimensions)
	for _, w := range order {
		h := fnv.New64a()
		h.Write([]byte(w))
		sum := h.Sum64()
		weight := 1 + math.Log(float64(counts[w]))
		if sum>>63 == 1 {
			weight = -weight
		}
		v[sum%uint64(dimensions)] += weight
	}
	norm := 0.0
	for _, a := range v {
		norm += a * a
	}
	out := make([]float32, dimensions)
	if norm == 0 {
		return out
	}
	for i, a := range v {
		out[i] = float32(a / math.Sqrt(norm))
	}
	return out
}
