package t5

import (
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// head names the product with the output matrix, headName the matrix where it is not the embedding.
const (
	head     = "head"
	headName = "lm_head.weight"
)

// Specs are all parameters, with the deviations of T5PreTrainedModel._init_weights.
func (c Config) Specs() []seq2seq.Spec {
	f := c.InitializerFactor
	inner := c.NumHeads * c.DKV
	d := math.Pow(float64(c.DModel), -0.5)
	_, gated := c.feedForward()
	var all []seq2seq.Spec
	add := func(name string, std float64, shape ...int64) {
		all = append(all, seq2seq.Spec{Name: name + ".weight", Shape: shape, Init: seq2seq.Draw{Deviation: std}})
	}
	product := func(of, name string, std float64, shape ...int64) {
		add(name, std, shape...)
		all[len(all)-1].Product = of
	}
	norm := func(name string) {
		all = append(all, seq2seq.Spec{Name: name + ".weight", Shape: []int64{c.DModel}, Init: seq2seq.Draw{Value: f}})
	}
	attention := func(prefix, kind string, table bool) {
		p := prefix + "." + kind
		// Those of self-attention multiply the same rows, and so do the keys and values of
		// all layers' cross-attention.
		queries, keys := p, p
		if kind == "EncDecAttention" {
			queries, keys = p+".q", "decoder.EncDecAttention"
		}
		product(queries, p+".q", f*math.Pow(float64(c.DModel*c.DKV), -0.5), inner, c.DModel)
		product(keys, p+".k", f*d, inner, c.DModel)
		product(keys, p+".v", f*d, inner, c.DModel)
		product(p+".o", p+".o", f*math.Pow(float64(inner), -0.5), c.DModel, inner)
		if table {
			add(p+".relative_attention_bias", f*d, c.Buckets, c.NumHeads)
		}
		norm(prefix + ".layer_norm")
	}
	feedForward := func(prefix string) {
		p := prefix + ".DenseReluDense"
		if gated {
			product(p, p+".wi_0", f*d, c.DFF, c.DModel)
			product(p, p+".wi_1", f*d, c.DFF, c.DModel)
		} else {
			product(p, p+".wi", f*d, c.DFF, c.DModel)
		}
		product(p+".wo", p+".wo", f*math.Pow(float64(c.DFF), -0.5), c.DModel, c.DFF)
		norm(prefix + ".layer_norm")
	}

	add("shared", f, c.VocabSize, c.DModel)
	// NOTE some files name the embedding only where it is used.
	all[0].Other = []string{"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}
	// NOTE T5's _init_weights leaves new rows to PyTorch's defaults, here and in the head.
	all[0].Grown = seq2seq.Draw{Deviation: 1}
	if c.TieEmbeddings {
		all[0].Product, all[0].Other = head, append(all[0].Other, headName)
	}
	for i := range c.NumLayers {
		block := fmt.Sprintf("encoder.block.%d.layer.", i)
		attention(block+"0", "SelfAttention", i == 0 || c.ownPositions())
		feedForward(block + "1")
	}
	norm("encoder.final_layer_norm")
	for i := range c.NumDecoderLayers {
		block := fmt.Sprintf("decoder.block.%d.layer.", i)
		attention(block+"0", "SelfAttention", i == 0 || c.ownPositions())
		attention(block+"1", "EncDecAttention", false)
		feedForward(block + "2")
	}
	norm("decoder.final_layer_norm")
	if !c.TieEmbeddings {
		product(head, "lm_head", f, c.VocabSize, c.DModel)
		all[len(all)-1].Grown = seq2seq.Draw{Bound: d}
	}
	return all
}

// Network implements seq2seq.Config.
func (c Config) Network(get func(name string) *tensor.Tensor) seq2seq.Network {
	at := func(name string) *tensor.Tensor { return get(name + ".weight") }
	act, gated := c.feedForward()
	attention := func(prefix, kind string) attention {
		p := prefix + "." + kind
		return attention{q: at(p + ".q"), k: at(p + ".k"), v: at(p + ".v"), o: at(p + ".o"), norm: at(prefix + ".layer_norm")}
	}
	feed := func(prefix string) feedForward {
		p := prefix + ".DenseReluDense"
		f := feedForward{wo: at(p + ".wo"), norm: at(prefix + ".layer_norm")}
		if gated {
			f.gate, f.wi = at(p+".wi_0"), at(p+".wi_1")
		} else {
			f.wi = at(p + ".wi")
		}
		return f
	}
	n := &network{c: c, shared: at("shared"), head: at("shared"), relu: act == "relu"}
	n.activation, _ = tensor.ActivationOf(act) // Validate knows it
	if !c.TieEmbeddings {
		n.head = at("lm_head")
	}
	n.encoder.norm, n.decoder.norm = at("encoder.final_layer_norm"), at("decoder.final_layer_norm")
	for i := range c.NumLayers {
		layer := fmt.Sprintf("encoder.block.%d.layer.", i)
		if i == 0 || c.ownPositions() {
			n.encoder.tables = append(n.encoder.tables, at(layer+"0.SelfAttention.relative_attention_bias"))
		}
		n.encoder.blocks = append(n.encoder.blocks, block{self: attention(layer+"0", "SelfAttention"), feed: feed(layer + "1")})
	}
	for i := range c.NumDecoderLayers {
		layer := fmt.Sprintf("decoder.block.%d.layer.", i)
		if i == 0 || c.ownPositions() {
			n.decoder.tables = append(n.decoder.tables, at(layer+"0.SelfAttention.relative_attention_bias"))
		}
		n.decoder.blocks = append(n.decoder.blocks, block{
			self: attention(layer+"0", "SelfAttention"), cross: attention(layer+"1", "EncDecAttention"), feed: feed(layer + "2")})
	}
	return n
}
