package seq2seq

import (
	"github.com/redsi/redsi/internal/model/int8s"
	"github.com/redsi/redsi/internal/model/tensor"
)

// Pass is one run through a model: the scope of what it computes, the device and type of matrix products, and dropout.
type Pass struct {
	S       *tensor.Scope
	Device  tensor.Device
	compute tensor.DType
	rng     *tensor.RNG // nil outside of training: no dropout
	heads   tensor.AttentionOptions

	learns   bool             // it is a forward pass of Gradients
	given    []*tensor.Tensor // embedded tokens, which gradients are asked for of
	tape     *tape            // of a pass whose segments are recomputed; nil: they are kept
	copies   *copies          // of matrices; nil: they are what they are
	packed   *Packed          // the same of a search on a CPU
	int8     *int8s.Matrices  // matrices in int8, where products are of it
	products map[product][]*tensor.Tensor
}

func (m *Model) pass(s *tensor.Scope, rng *tensor.RNG) *Pass {
	p := &Pass{S: s, Device: m.Device, compute: m.Compute, rng: rng, heads: m.net.Attention()}
	p.heads.Dropout, p.heads.RNG = p.rate(p.heads.Dropout), rng
	return p
}

// rate is the probability of dropout: 0 outside of training.
func (p *Pass) rate(probability float64) float64 {
	if p.rng == nil {
		return 0
	}
	return probability
}

// Dropout is x with elements set to zero with a probability, in training.
func (p *Pass) Dropout(x *tensor.Tensor, probability float64) *tensor.Tensor {
	return p.S.Dropout(x, p.rate(probability), p.rng)
}

// ReluDropout is Dropout(max(x, 0)) in one pass.
func (p *Pass) ReluDropout(x *tensor.Tensor, probability float64) *tensor.Tensor {
	return p.S.ReluDropout(x, p.rate(probability), p.rng)
}

// Add is a residual connection, in float32: x + Dropout(y).
func (p *Pass) Add(x, y *tensor.Tensor, probability float64) *tensor.Tensor {
	return p.S.AddDropout(x, y, p.rate(probability), p.rng)
}

// RMSNorm is the norm of states that products are of: on a CPU it is of the compute type.
func (p *Pass) RMSNorm(x, w *tensor.Tensor, eps float64) *tensor.Tensor {
	if p.compute == tensor.BF16 && !p.Device.IsCUDA() {
		return p.S.RMSNormBF16(x, w, eps)
	}
	return p.S.RMSNorm(x, w, eps)
}

// Attend is attention of sequences to themselves, in both directions, with a bias of the
// scores or nil: q, k and v [T, heads*d] -> [T, heads*d].
func (p *Pass) Attend(q, k, v, bias *tensor.Tensor, seq Sequences) *tensor.Tensor {
	return p.S.PackedAttention(q, k, v, p.Outside(bias), seq.spans(), p.heads)
}

// Sequences are a set of sequences, whose rows follow one another.
type Sequences struct {
	ids        []int64
	Start, Len []int64 // of each, in rows
	Most       int64   // rows of the longest

	tokens  *tensor.Tensor // ids where the model is, of a batch that was brought there
	Layout  *tensor.Layout // on a card that a batch was brought to, of attention to themselves; else nil
	Indexes *tensor.Tensor // there, what Config.Indexes says of them; else nil
}

func pack(sequences [][]int32) Sequences {
	var p Sequences
	for i, ids := range sequences {
		if len(ids) == 0 {
			tensor.Failf("model", "sequence %d is empty", i)
		}
		p.Start = append(p.Start, int64(len(p.ids)))
		p.Len = append(p.Len, int64(len(ids)))
		p.Most = max(p.Most, int64(len(ids)))
		for _, id := range ids {
			p.ids = append(p.ids, int64(id))
		}
	}
	return p
}

// Positions are the places of all rows within their sequences, from 0.
func (q Sequences) Positions() []int64 {
	all := make([]int64, 0, len(q.ids))
	for _, n := range q.Len {
		for i := range n {
			all = append(all, i)
		}
	}
	return all
}

// spans says where the sequences look at themselves.
func (q Sequences) spans() tensor.Spans {
	return tensor.Spans{QStart: q.Start, QLen: q.Len, KStart: q.Start, KLen: q.Len, Layout: q.Layout}
}

// taught is the Attention of a decoder that reads complete sequences at once.
type taught struct {
	*Pass
	net    Network
	at     indexes
	memory *tensor.Tensor // the encoder's states [S, width]
	biases []*tensor.Tensor
	keys   [][2]*tensor.Tensor // of all layers; nil: each layer computes its own
}

func (t *taught) Positions() []int64 { return t.at.read.Positions() }

func (t *taught) Indexes() *tensor.Tensor { return t.at.read.Indexes }

func (t *taught) Self(layer int, q, k, v *tensor.Tensor) *tensor.Tensor {
	causal := t.heads
	causal.Causal = true
	return t.S.PackedAttention(q, k, v, t.Outside(BiasOf(t.biases, layer)), t.at.read.spans(), causal)
}

func (t *taught) Cross(layer int, q *tensor.Tensor) *tensor.Tensor {
	var k, v *tensor.Tensor
	if t.keys != nil {
		k, v = t.Outside(t.keys[layer][0]), t.Outside(t.keys[layer][1])
	} else {
		k, v = t.net.Keys(t.Pass, layer, t.memory)
	}
	read, inputs := t.at.read, t.at.inputs
	spans := tensor.Spans{QStart: read.Start, QLen: read.Len, KStart: inputs.Start, KLen: inputs.Len, Layout: t.at.cross}
	return t.S.PackedAttention(q, k, v, nil, spans, t.heads)
}

// forced gives the decoder's states for embedded inputs and for embedded tokens that it
// reads, all at once: [S, width] and [T, width] -> [T, w].
func (m *Model) forced(p *Pass, net Network, in, out *tensor.Tensor, at indexes) *tensor.Tensor {
	t := &taught{Pass: p, net: net, at: at}
	t.memory = net.Encode(p, in, at.inputs)
	t.biases = net.Biases(p.S, at.read.Most, at.read.Indexes)
	// NOTE one product for all layers, and keys that are not recomputed; on a CPU they would be in memory together for
	// nothing.
	if p.tape != nil || p.copies != nil {
		for i := range net.Layers() {
			k, v := net.Keys(p, i, t.memory)
			t.keys = append(t.keys, [2]*tensor.Tensor{k, v})
		}
	}
	return net.Decode(p, out, t)
}
