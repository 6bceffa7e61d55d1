//go:build !notorch

package t5

import (
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/tensor"
)

// spec is one parameter: Hugging Face's name, its shape, and how random
// initialisation draws it (standard deviation, or the constant where constant).
type spec struct {
	name     string
	shape    []int64
	std      float64
	constant bool
}

// specs lists all parameters in transformers' order, with the deviations of
// T5PreTrainedModel._init_weights.
func (c Config) specs() []spec {
	f := c.InitializerFactor
	inner := c.NumHeads * c.DKV
	d := math.Pow(float64(c.DModel), -0.5)
	var all []spec
	add := func(name string, std float64, shape ...int64) {
		all = append(all, spec{name: name + ".weight", shape: shape, std: std})
	}
	norm := func(name string) {
		all = append(all, spec{name: name + ".weight", shape: []int64{c.DModel}, std: f, constant: true})
	}
	attention := func(prefix, kind string, table bool) {
		p := prefix + "." + kind
		add(p+".q", f*math.Pow(float64(c.DModel*c.DKV), -0.5), inner, c.DModel)
		add(p+".k", f*d, inner, c.DModel)
		add(p+".v", f*d, inner, c.DModel)
		add(p+".o", f*math.Pow(float64(inner), -0.5), c.DModel, inner)
		if table {
			add(p+".relative_attention_bias", f*d, c.Buckets, c.NumHeads)
		}
		norm(prefix + ".layer_norm")
	}
	feedForward := func(prefix string) {
		p := prefix + ".DenseReluDense"
		if c.gated() {
			add(p+".wi_0", f*d, c.DFF, c.DModel)
			add(p+".wi_1", f*d, c.DFF, c.DModel)
		} else {
			add(p+".wi", f*d, c.DFF, c.DModel)
		}
		add(p+".wo", f*math.Pow(float64(c.DFF), -0.5), c.DModel, c.DFF)
		norm(prefix + ".layer_norm")
	}

	add("shared", f, c.VocabSize, c.DModel)
	for i := range c.NumLayers {
		block := fmt.Sprintf("encoder.block.%d.layer.", i)
		attention(block+"0", "SelfAttention", i == 0)
		feedForward(block + "1")
	}
	norm("encoder.final_layer_norm")
	for i := range c.NumDecoderLayers {
		block := fmt.Sprintf("decoder.block.%d.layer.", i)
		attention(block+"0", "SelfAttention", i == 0)
		attention(block+"1", "EncDecAttention", false)
		feedForward(block + "2")
	}
	norm("decoder.final_layer_norm")
	if !c.TieEmbeddings {
		add("lm_head", f, c.VocabSize, c.DModel)
	}
	return all
}

// ParameterCount is the number of trainable numbers, tied ones counted once.
func (c Config) ParameterCount() int64 {
	var n int64
	for _, p := range c.specs() {
		size := int64(1)
		for _, d := range p.shape {
			size *= d
		}
		n += size
	}
	return n
}

// Param is a parameter under its Hugging Face name.
type Param struct {
	Name   string
	Tensor *tensor.Tensor
}

// build assembles a model from its parameters, in the order of specs.
func build(c Config, device tensor.Device, scope *tensor.Scope, params []Param) *Model {
	m := &Model{Config: c, Device: device, Compute: tensor.F32, scope: scope, params: params}
	at := 0
	next := func() *tensor.Tensor { at++; return params[at-1].Tensor }
	attention := func(table **tensor.Tensor) attention {
		a := attention{q: next(), k: next(), v: next(), o: next()}
		if table != nil {
			*table = next()
		}
		a.norm = next()
		return a
	}
	feed := func() feedForward {
		var f feedForward
		f.wi = next()
		if c.gated() {
			f.gate, f.wi = f.wi, next() // wi_0 goes through gelu, wi_1 does not
		}
		f.wo, f.norm = next(), next()
		return f
	}
	m.shared = next()
	for i := range c.NumLayers {
		var b block
		b.self = attention(onlyFirst(i, &m.encoder.table))
		b.feed = feed()
		m.encoder.blocks = append(m.encoder.blocks, b)
	}
	m.encoder.norm = next()
	for i := range c.NumDecoderLayers {
		var b block
		b.self = attention(onlyFirst(i, &m.decoder.table))
		cross := attention(nil)
		b.cross = &cross
		b.feed = feed()
		m.decoder.blocks = append(m.decoder.blocks, b)
	}
	m.decoder.norm = next()
	m.head = m.shared
	if !c.TieEmbeddings {
		m.head = next()
	}
	return m
}

// NOTE only layer 0 has a table of relative positions; all layers of its stack use it.
func onlyFirst(layer int64, table **tensor.Tensor) **tensor.Tensor {
	if layer == 0 {
		return table
	}
	return nil
}

// Init is a model with random parameters, as T5PreTrainedModel._init_weights draws
// them; the same seed gives the same model on every machine.
func Init(c Config, seed uint64, device tensor.Device) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	scope := tensor.NewScope()
	var m *Model
	err := tensor.Try(func() {
		rng := &tensor.RNG{Seed: seed}
		var params []Param
		for _, p := range c.specs() {
			var t *tensor.Tensor
			if p.constant {
				t = scope.Full(p.std, tensor.F32, device, p.shape...)
			} else {
				t = scope.ToDevice(scope.Normal(rng, 0, p.std, p.shape...), device)
			}
			params = append(params, Param{p.name, t})
		}
		m = build(c, device, scope, params)
		m.leaves()
	})
	if err != nil {
		scope.Close()
		return nil, err
	}
	return m, nil
}

// Extend appends n rows to the vocabulary, for the tokens that document identifiers have
// of their own, from VocabSize of the old model on. The new rows are drawn as
// transformers' resize_token_embeddings draws them, which leaves them to PyTorch's
// defaults: N(0, 1) in the embedding, U(±d_model^-0.5) in an untied head. The
// parameters affected are new tensors: an optimizer made before does not fit any more.
func (m *Model) Extend(n int64, seed uint64) error {
	if n < 1 {
		return fmt.Errorf("T5: cannot extend the vocabulary by %d", n)
	}
	c := m.Config
	c.VocabSize += n
	if err := c.Validate(); err != nil {
		return err
	}
	return tensor.Try(func() {
		rng := &tensor.RNG{Seed: seed}
		for i, p := range m.params {
			if p.Name != "shared.weight" && p.Name != "lm_head.weight" {
				continue
			}
			tensor.Within(func(s *tensor.Scope) {
				rows := s.Normal(rng, 0, 1, n, c.DModel)
				if p.Name == "lm_head.weight" {
					bound := math.Pow(float64(c.DModel), -0.5)
					rows = s.Uniform(rng, -bound, bound, n, c.DModel)
				}
				m.params[i].Tensor = m.scope.Move(s.Cat(0, s.Detach(p.Tensor), s.ToDevice(rows, m.Device))) // [VocabSize+n, d_model]
			})
			tensor.Free(p.Tensor)
		}
		extended := build(c, m.Device, m.scope, m.params)
		extended.Compute = m.Compute
		*m = *extended
		m.leaves()
	})
}
