package t5

import (
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// headName is the output matrix where it is not the embedding.
const headName = "lm_head.weight"

// Build implements seq2seq.Config, with the deviations of T5PreTrainedModel._init_weights.
func (c Config) Build(take func(seq2seq.Spec) *tensor.Tensor) seq2seq.Network {
	f := c.InitializerFactor
	inner := c.NumHeads * c.DKV
	d := math.Pow(float64(c.DModel), -0.5)
	activation, gated := c.feedForward()
	matrix := func(product, name string, std float64, shape ...int64) *tensor.Tensor {
		return take(seq2seq.Spec{Name: name + ".weight", Shape: shape, Init: seq2seq.Draw{Deviation: std}, Product: product})
	}
	norm := func(name string) *tensor.Tensor {
		return take(seq2seq.Spec{Name: name + ".weight", Shape: []int64{c.DModel}, Init: seq2seq.Draw{Value: f}})
	}
	attend := func(prefix, kind string, tables *[]*tensor.Tensor) (a attention) {
		p := prefix + "." + kind
		// Those of self-attention multiply the same rows, and so do the keys and values of all layers' cross-attention.
		queries, keys := p, p
		if kind == "EncDecAttention" {
			queries, keys = p+".q", "decoder.EncDecAttention"
		}
		a.q = matrix(queries, p+".q", f*math.Pow(float64(c.DModel*c.DKV), -0.5), inner, c.DModel)
		a.k = matrix(keys, p+".k", f*d, inner, c.DModel)
		a.v = matrix(keys, p+".v", f*d, inner, c.DModel)
		a.o = matrix(p+".o", p+".o", f*math.Pow(float64(inner), -0.5), c.DModel, inner)
		if tables != nil {
			*tables = append(*tables, matrix("", p+".relative_attention_bias", f*d, c.Buckets, c.NumHeads))
		}
		a.norm = norm(prefix + ".layer_norm")
		return a
	}
	feed := func(prefix string) (w feedForward) {
		p := prefix + ".DenseReluDense"
		if gated {
			w.gate = matrix(p, p+".wi_0", f*d, c.DFF, c.DModel)
			w.wi = matrix(p, p+".wi_1", f*d, c.DFF, c.DModel)
		} else {
			w.wi = matrix(p, p+".wi", f*d, c.DFF, c.DModel)
		}
		w.wo = matrix(p+".wo", p+".wo", f*math.Pow(float64(c.DFF), -0.5), c.DModel, c.DFF)
		w.norm = norm(prefix + ".layer_norm")
		return w
	}
	stacked := func(name string, layers int64) (s stack) {
		for i := range layers {
			layer, last, tables := fmt.Sprintf("%s.block.%d.layer.", name, i), "1", &s.tables
			if i > 0 && !c.ownPositions() {
				tables = nil
			}
			b := block{self: attend(layer+"0", "SelfAttention", tables)}
			if name == "decoder" {
				b.cross, last = attend(layer+"1", "EncDecAttention", nil), "2"
			}
			b.feed = feed(layer + last)
			s.blocks = append(s.blocks, b)
		}
		s.norm = norm(name + ".final_layer_norm")
		return s
	}

	// NOTE some files name the embedding only where it is used; T5's _init_weights leaves new rows to PyTorch's defaults, here and in
	// the head.
	shared := seq2seq.Spec{Name: "shared.weight", Shape: []int64{c.VocabSize, c.DModel}, Init: seq2seq.Draw{Deviation: f}, Grown: seq2seq.Draw{Deviation: 1},
		Other: []string{"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}}
	head := seq2seq.Spec{Name: headName, Shape: shared.Shape, Init: shared.Init, Grown: seq2seq.Draw{Bound: d}, Product: "head"}
	if c.TieEmbeddings {
		shared.Product, shared.Other = head.Product, append(shared.Other, headName)
	}
	n := &network{c: c, shared: take(shared), relu: activation == "relu"}
	n.activation = tensor.ActivationOf(activation) // Validate knows it
	n.encoder, n.decoder = stacked("encoder", c.NumLayers), stacked("decoder", c.NumDecoderLayers)
	if n.head = n.shared; !c.TieEmbeddings {
		n.head = take(head)
	}
	return n
}
