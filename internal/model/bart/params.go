package bart

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// offset is where the table of positions begins to be used (BartLearnedPositionalEmbedding).
const offset = 2

// Specs are all tensors, with the deviations of BartPreTrainedModel._init_weights. Their
// names may lack "model.", as in the checkpoints of facebook/bart-base and -large.
//
// NOTE transformers sets the embedding of the pad token to 0 and leaves it out of the
// gradients of what is read; no sequence here has a pad token.
func (c Config) Specs() []seq2seq.Spec {
	d := c.DModel
	random := seq2seq.Draw{Deviation: c.InitStd}
	// NOTE transformers adds final_logits_bias to scores, and never trains it: it is 0 in all that was published.
	all := []seq2seq.Spec{{Name: "final_logits_bias", Shape: []int64{1, c.VocabSize}, Fixed: true}}
	add := func(name string, init seq2seq.Draw, shape ...int64) {
		all = append(all, seq2seq.Spec{Name: "model." + name, Other: []string{name}, Shape: shape, Init: init})
	}
	dense := func(product, name string, out, in int64) {
		add(name+".weight", random, out, in)
		all[len(all)-1].Product = product
		add(name+".bias", seq2seq.Draw{}, out)
		all[len(all)-1].Product = product + ".bias"
	}
	norm := func(name string) {
		add(name+".weight", seq2seq.Draw{Value: 1}, d)
		add(name+".bias", seq2seq.Draw{}, d)
	}
	attention := func(name string) {
		// Those of self-attention multiply the same rows, and so do the keys and values of
		// all layers' cross-attention.
		queries, keys := name, name
		if strings.HasSuffix(name, "encoder_attn") {
			queries, keys = name+".q_proj", "decoder.encoder_attn"
		}
		dense(keys, name+".k_proj", d, d)
		dense(keys, name+".v_proj", d, d)
		dense(queries, name+".q_proj", d, d)
		dense(name+".out_proj", name+".out_proj", d, d)
		norm(name + "_layer_norm")
	}
	stack := func(name string, layers, ffn int64, cross bool) {
		add(name+".embed_positions.weight", random, c.MaxPositions+offset, d)
		for i := range layers {
			layer := fmt.Sprintf("%s.layers.%d.", name, i)
			attention(layer + "self_attn")
			if cross {
				attention(layer + "encoder_attn")
			}
			dense(layer+"fc1", layer+"fc1", ffn, d)
			dense(layer+"fc2", layer+"fc2", d, ffn)
			norm(layer + "final_layer_norm")
		}
		norm(name + ".layernorm_embedding")
	}
	add("shared.weight", random, c.VocabSize, d)
	all[1].Grown, all[1].Product = random, "head"
	for _, copy := range []string{"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"} {
		all[1].Other = append(all[1].Other, copy, "model."+copy)
	}
	all[1].Other = append(all[1].Other, "lm_head.weight")
	stack("encoder", c.EncoderLayers, c.EncoderFFN, false)
	stack("decoder", c.DecoderLayers, c.DecoderFFN, true)
	return all
}

// Network implements seq2seq.Config.
func (c Config) Network(get func(name string) *tensor.Tensor) seq2seq.Network {
	dense := func(name string) dense {
		return dense{W: get("model." + name + ".weight"), B: get("model." + name + ".bias")}
	}
	attention := func(name string) attention {
		return attention{q: dense(name + ".q_proj"), k: dense(name + ".k_proj"), v: dense(name + ".v_proj"), o: dense(name + ".out_proj"),
			norm: dense(name + "_layer_norm")}
	}
	stack := func(name string, layers int64) stack {
		s := stack{positions: get("model." + name + ".embed_positions.weight"), norm: dense(name + ".layernorm_embedding")}
		for i := range layers {
			at := fmt.Sprintf("%s.layers.%d.", name, i)
			l := layer{self: attention(at + "self_attn"), in: dense(at + "fc1"), out: dense(at + "fc2"), norm: dense(at + "final_layer_norm")}
			if strings.HasPrefix(name, "decoder") {
				l.cross = attention(at + "encoder_attn")
			}
			s.layers = append(s.layers, l)
		}
		return s
	}
	return &network{c: c, shared: get("model.shared.weight"), encoder: stack("encoder", c.EncoderLayers), decoder: stack("decoder", c.DecoderLayers)}
}
