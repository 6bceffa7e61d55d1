package bart

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// offset is where the table of positions begins to be used (BartLearnedPositionalEmbedding).
const offset = 2

// Build implements seq2seq.Config, with the deviations of BartPreTrainedModel._init_weights. Names may lack "model.", as
// in the checkpoints of facebook/bart-base and -large.
//
// NOTE transformers sets the embedding of the pad token to 0 and leaves it out of the
// gradients of what is read; no sequence here has a pad token.
func (c Config) Build(take func(seq2seq.Spec) *tensor.Tensor) seq2seq.Network {
	d, random, ones, zeros := c.DModel, seq2seq.Draw{Deviation: c.InitStd}, seq2seq.Draw{Value: 1}, seq2seq.Draw{}
	named := func(product, name string, init seq2seq.Draw, shape ...int64) *tensor.Tensor {
		return take(seq2seq.Spec{Name: "model." + name, Other: []string{name}, Shape: shape, Init: init, Product: product})
	}
	matrix := func(product, name string, out, in int64) dense {
		return dense{W: named(product, name+".weight", random, out, in), B: named(product+".bias", name+".bias", zeros, out)}
	}
	norm := func(name string) dense {
		return dense{W: named("", name+".weight", ones, d), B: named("", name+".bias", zeros, d)}
	}
	attend := func(name string) (a attention) {
		// Those of self-attention multiply the same rows, and so do the keys and values of all layers' cross-attention.
		queries, keys := name, name
		if strings.HasSuffix(name, "encoder_attn") {
			queries, keys = name+".q_proj", "decoder.encoder_attn"
		}
		a.k, a.v = matrix(keys, name+".k_proj", d, d), matrix(keys, name+".v_proj", d, d)
		a.q, a.o = matrix(queries, name+".q_proj", d, d), matrix(name+".out_proj", name+".out_proj", d, d)
		a.norm = norm(name + "_layer_norm")
		return a
	}
	stacked := func(name string, layers, ffn int64) stack {
		s := stack{positions: named("", name+".embed_positions.weight", random, c.MaxPositions+offset, d)}
		for i := range layers {
			at := fmt.Sprintf("%s.layers.%d.", name, i)
			l := layer{self: attend(at + "self_attn")}
			if name == "decoder" {
				l.cross = attend(at + "encoder_attn")
			}
			l.in, l.out = matrix(at+"fc1", at+"fc1", ffn, d), matrix(at+"fc2", at+"fc2", d, ffn)
			l.norm = norm(at + "final_layer_norm")
			s.layers = append(s.layers, l)
		}
		s.norm = norm(name + ".layernorm_embedding")
		return s
	}
	// NOTE transformers adds final_logits_bias to scores, and never trains it: it is 0 in all that was published.
	take(seq2seq.Spec{Name: "final_logits_bias", Shape: []int64{1, c.VocabSize}, Fixed: true})
	shared := seq2seq.Spec{Name: "model.shared.weight", Other: []string{"shared.weight"}, Shape: []int64{c.VocabSize, d}, Init: random, Grown: random, Product: "head"}
	for _, copy := range []string{"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"} {
		shared.Other = append(shared.Other, copy, "model."+copy)
	}
	shared.Other = append(shared.Other, "lm_head.weight")
	n := &network{c: c, shared: take(shared)}
	n.encoder, n.decoder = stacked("encoder", c.EncoderLayers, c.EncoderFFN), stacked("decoder", c.DecoderLayers, c.DecoderFFN)
	return n
}
