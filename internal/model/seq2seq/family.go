package seq2seq

import (
	"encoding/json"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Family is a kind of model: what config.json names as model_type.
type Family struct {
	Type  string                              // "t5"
	Parse func(config []byte) (Config, error) // reads config.json and validates it
}

// Config is a family's config.json. A value does not change; its JSON is what
// transformers' AutoModelForSeq2SeqLM opens.
type Config interface {
	json.Marshaler
	// Validate says what the family cannot compute.
	Validate() error
	Vocabulary() Vocabulary
	// Of is the configuration with what the file of its weights says beside config.json.
	Of(f *checkpoint.File) (Config, error)
	// Unused says whether nothing is computed with a tensor of a file that Build does not ask for.
	Unused(name string) bool
	// Extended has n more tokens, which follow the others.
	Extended(n int64) Config
	// WithDropout has the probability p wherever transformers' option dropout works.
	WithDropout(p float64) Config
	// Indexes are what a stack, the encoder or the decoder, looks up in its tables of positions
	// for sequences, which a card gets with their tokens.
	Indexes(seq Sequences, encoder bool) ([]int64, error)
	// Build makes the network of tensors, for all of which it asks take, in transformers' order, tied ones once.
	Build(take func(Spec) *tensor.Tensor) Network
}

// Specs are all tensors of a configuration, in transformers' order, tied ones once.
func Specs(c Config) (all []Spec) {
	c.Build(func(s Spec) *tensor.Tensor {
		all = append(all, s)
		return nil
	})
	return all
}

// Vocabulary is the part of a configuration that tokens depend on.
type Vocabulary struct {
	Size  int64 // tokens, with the tokens of Extend
	Pad   int64 // what the decoder reads for an ignored label
	Start int64 // what the decoder reads first
	EOS   int64 // ends a sequence
	// What plain generation writes whatever its score: as the first token, and as the last token of a full
	// sequence. nil: nothing.
	ForcedBOS, ForcedEOS *int64
}

// Spec is one tensor of a model.
type Spec struct {
	Name  string   // Hugging Face's
	Other []string // names that files have in its stead, or beside it for the same numbers
	Shape []int64
	Init  Draw // random initialisation, as transformers' _init_weights
	Grown Draw // new rows, as its resize_token_embeddings; of tensors that have a row per token
	// Fixed marks what is no parameter but zeros, which files may have and nothing is computed with.
	Fixed bool
	// Product names the product that a matrix is for, by Pass.Linear, Affine, Products or Affines: a card has a copy of
	// it in the compute type, and matrices of one name in one matrix, since they multiply the same rows. "": it is not
	// for products, or for other uses too. Biases have names too: biases of matrices in one matrix have one name, in
	// the same order.
	Product string
}

// Draw says how numbers are drawn: from N(0, Deviation²), uniformly within ±Bound, or
// all of them as Value, whichever is not 0.
type Draw struct{ Deviation, Bound, Value float64 }

// draw makes a tensor that s owns.
func (d Draw) draw(s *tensor.Scope, rng *tensor.RNG, device tensor.Device, shape ...int64) *tensor.Tensor {
	switch {
	case d.Deviation != 0:
		return s.ToDevice(s.Normal(rng, 0, d.Deviation, shape...), device)
	case d.Bound != 0:
		return s.ToDevice(s.Uniform(rng, -d.Bound, d.Bound, shape...), device)
	}
	return s.Full(d.Value, tensor.F32, device, shape...)
}

// Network computes a model's states. Tokens come as rows of Embedding.
type Network interface {
	// Embedding is the table of tokens, [Size, width].
	Embedding() *tensor.Tensor
	// Head is the output matrix, whose product with states are scores: [Size, width].
	Head() *tensor.Tensor
	// Attention are the heads, the scale of scores and, in training, the dropout of every attention.
	Attention() tensor.AttentionOptions
	// Layers is the number of decoder layers.
	Layers() int
	// Encode gives the states of embedded tokens: [S, width] -> [S, width].
	Encode(p *Pass, x *tensor.Tensor, seq Sequences) *tensor.Tensor
	// Keys are what a decoder layer's cross-attention makes of the encoder's states
	// [S, width]: keys and values, [S, heads*d] each.
	Keys(p *Pass, layer int, states *tensor.Tensor) (k, v *tensor.Tensor)
	// Biases are what the decoder's self-attention adds to the scores of up to n positions, [heads, n, n], in each
	// layer; one: in every layer, none: nothing. Indexes are Config's of sequences, the longest of which has n tokens;
	// nil: Biases computes them.
	Biases(s *tensor.Scope, n int64, indexes *tensor.Tensor) []*tensor.Tensor
	// Decode gives the decoder's states for the product with Head: [T, width] -> [T, width].
	Decode(p *Pass, x *tensor.Tensor, at Attention) *tensor.Tensor
}

// BiasOf is a layer's among Biases, or nil.
func BiasOf(biases []*tensor.Tensor, layer int) *tensor.Tensor {
	switch len(biases) {
	case 0:
		return nil
	case 1:
		return biases[0]
	}
	return biases[layer]
}

// Attention is where a decoder's rows look: complete sequences in training, one token per row and what was kept of the
// tokens before it in decoding.
type Attention interface {
	// Positions are the places of the rows within their sequences.
	Positions() []int64
	// Indexes are what the decoder's tables are looked up by, on a card that they were brought to; else nil.
	Indexes() *tensor.Tensor
	// Self is attention to the rows' own sequences: q, k and v [T, heads*d] each.
	Self(layer int, q, k, v *tensor.Tensor) *tensor.Tensor
	// Cross is attention to the encoder's states.
	Cross(layer int, q *tensor.Tensor) *tensor.Tensor
}
