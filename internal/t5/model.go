//go:build !notorch

package t5

import (
	"math"

	"github.com/redsi/redsi/internal/tensor"
)

// Ignore is the label that the loss leaves out (transformers' -100).
const Ignore = -100

// Model is a T5 model on one device. Its parameters are float32; Compute is the
// type that matrix products are done in (BF16 and F16 as torch.autocast does).
// Several goroutines may read it at once; changing it needs all of them done.
type Model struct {
	Config  Config
	Device  tensor.Device
	Compute tensor.DType

	scope            *tensor.Scope
	params           []Param
	shared, head     *tensor.Tensor // [VocabSize, d_model]; one tensor where tied
	encoder, decoder stack
}

// stack is the encoder or the decoder.
type stack struct {
	blocks []block
	table  *tensor.Tensor // [buckets, heads]
	norm   *tensor.Tensor // [d_model]
}

type block struct {
	self  attention
	cross *attention // decoder only
	feed  feedForward
}

// attention's matrices: q, k, v [heads*d_kv, d_model], o [d_model, heads*d_kv].
type attention struct{ q, k, v, o, norm *tensor.Tensor }

// feedForward's matrices: wi and gate (v1.1) [d_ff, d_model], wo [d_model, d_ff].
type feedForward struct{ wi, gate, wo, norm *tensor.Tensor }

// Close frees the parameters.
func (m *Model) Close() { m.scope.Close() }

// Params are all parameters, in transformers' order, tied ones once.
func (m *Model) Params() []Param { return m.params }

// leaves makes every parameter one that gradients can be asked for.
func (m *Model) leaves() {
	for _, p := range m.params {
		m.scope.Leaf(p.Tensor)
	}
}

// pass is one run through the model: the scope of what it computes, and dropout.
type pass struct {
	*Model
	s   *tensor.Scope
	rng *tensor.RNG
	p   float64 // dropout probability, 0 outside of training
}

// packed is a set of sequences, one after another.
type packed struct {
	ids        []int64
	start, len []int64
	most       int64 // longest sequence
}

func pack[T ~int32 | ~int64](sequences [][]T) packed {
	var p packed
	for i, ids := range sequences {
		if len(ids) == 0 {
			tensor.Failf("T5", "sequence %d is empty", i)
		}
		p.start = append(p.start, int64(len(p.ids)))
		p.len = append(p.len, int64(len(ids)))
		p.most = max(p.most, int64(len(ids)))
		for _, id := range ids {
			p.ids = append(p.ids, int64(id))
		}
	}
	return p
}

// embed looks up tokens: T ids -> [T, d_model].
func (m *Model) embed(s *tensor.Scope, ids []int64) *tensor.Tensor {
	for i, id := range ids {
		if id < 0 || id >= m.Config.VocabSize {
			tensor.Failf("T5", "token %d at %d is outside of the vocabulary of %d", id, i, m.Config.VocabSize)
		}
	}
	return s.IndexSelect(m.shared, 0, s.FromInt64s(ids, m.Device, int64(len(ids))))
}

// linear is x·wᵀ in the compute type.
func (f pass) linear(x, w *tensor.Tensor) *tensor.Tensor {
	if f.Compute != tensor.F32 {
		x, w = f.s.ToDType(x, f.Compute), f.s.ToDType(w, f.Compute)
	}
	return f.s.Linear(x, w)
}

// add is the residual connection, in float32: x + dropout(y).
func (f pass) add(x, y *tensor.Tensor) *tensor.Tensor {
	return f.s.AddDropout(x, f.s.ToDType(y, tensor.F32), f.p, f.rng)
}

// norm is T5LayerNorm.
//
// NOTE no mean is subtracted and no bias added: x / rms(x) * w.
func (f pass) norm(x, w *tensor.Tensor) *tensor.Tensor {
	return f.s.RMSNorm(x, w, f.Config.LayerNormEpsilon)
}

// selfAttention is one sublayer, x [T, d_model] -> [T, d_model].
//
// NOTE the scores are not divided by √d_kv; the initialisation of q does that.
func (f pass) selfAttention(x *tensor.Tensor, a attention, bias *tensor.Tensor, seq packed, causal bool) *tensor.Tensor {
	h := f.norm(x, a.norm)
	q := f.linear(h, a.q) // [T, heads*d_kv]
	k := f.linear(h, a.k)
	v := f.linear(h, a.v)
	spans := tensor.Spans{QStart: seq.start, QLen: seq.len, KStart: seq.start, KLen: seq.len}
	h = f.s.PackedAttention(q, k, v, bias, spans, f.attention(causal))
	return f.add(x, f.linear(h, a.o))
}

// crossAttention looks from the decoder's x [T, d_model] at the encoder's memory
// [S, d_model].
//
// NOTE it has no position bias.
func (f pass) crossAttention(x *tensor.Tensor, a attention, memory *tensor.Tensor, seq, from packed) *tensor.Tensor {
	h := f.norm(x, a.norm)
	q := f.linear(h, a.q)      // [T, heads*d_kv]
	k := f.linear(memory, a.k) // [S, heads*d_kv]
	v := f.linear(memory, a.v)
	spans := tensor.Spans{QStart: seq.start, QLen: seq.len, KStart: from.start, KLen: from.len}
	h = f.s.PackedAttention(q, k, v, nil, spans, f.attention(false))
	return f.add(x, f.linear(h, a.o))
}

func (f pass) attention(causal bool) tensor.AttentionOptions {
	return tensor.AttentionOptions{Heads: f.Config.NumHeads, Scale: 1, Causal: causal, Dropout: f.p, RNG: f.rng}
}

// feedForward is one sublayer, x [T, d_model] -> [T, d_model].
func (f pass) feedForward(x *tensor.Tensor, w feedForward) *tensor.Tensor {
	h := f.norm(x, w.norm)
	if w.gate != nil { // v1.1: gelu(gate·x) * wi·x
		gate := f.s.Gelu(f.linear(h, w.gate), true)
		h = f.s.Dropout(f.s.Mul(gate, f.linear(h, w.wi)), f.p, f.rng) // [T, d_ff]
	} else {
		h = f.s.ReluDropout(f.linear(h, w.wi), f.p, f.rng) // [T, d_ff]
	}
	return f.add(x, f.linear(h, w.wo))
}

// encode runs the encoder over embedded tokens x [S, d_model].
func (f pass) encode(x *tensor.Tensor, seq packed) *tensor.Tensor {
	bias := f.positionBias(f.s, f.encoder.table, seq.most, true)
	x = f.s.Dropout(x, f.p, f.rng)
	for _, b := range f.encoder.blocks {
		x = f.selfAttention(x, b.self, bias, seq, false)
		x = f.feedForward(x, b.feed)
	}
	return f.s.Dropout(f.norm(x, f.encoder.norm), f.p, f.rng)
}

// decode runs the decoder over embedded tokens x [T, d_model], all at once.
func (f pass) decode(x *tensor.Tensor, seq packed, memory *tensor.Tensor, from packed) *tensor.Tensor {
	bias := f.positionBias(f.s, f.decoder.table, seq.most, false)
	x = f.s.Dropout(x, f.p, f.rng)
	for _, b := range f.decoder.blocks {
		x = f.selfAttention(x, b.self, bias, seq, true)
		x = f.crossAttention(x, *b.cross, memory, seq, from)
		x = f.feedForward(x, b.feed)
	}
	return f.toHead(f.s.Dropout(f.norm(x, f.decoder.norm), f.p, f.rng))
}

// toHead prepares decoder states [T, d_model] for the product with the head.
//
// NOTE a tied head is the embedding, of another scale: states times d_model^-0.5.
func (f pass) toHead(x *tensor.Tensor) *tensor.Tensor {
	if !f.Config.TieEmbeddings {
		return x
	}
	return f.s.Scale(x, math.Pow(float64(f.Config.DModel), -0.5))
}

// Param is the parameter of that Hugging Face name, or nil.
func (m *Model) Param(name string) *tensor.Tensor {
	for _, p := range m.params {
		if p.Name == name {
			return p.Tensor
		}
	}
	return nil
}
