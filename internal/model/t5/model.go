package t5

import (
	"math"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// network is a seq2seq.Network.
type network struct {
	c                Config
	shared, head     *tensor.Tensor // [VocabSize, d_model]; one tensor where tied
	encoder, decoder stack
	activation       tensor.Activation // of the feed-forward layers
	relu             bool              // it is relu
}

// stack is the encoder or the decoder.
type stack struct {
	blocks []block
	tables []*tensor.Tensor // [buckets, heads], of each layer; one: of all of them
	norm   *tensor.Tensor   // [d_model]
}

type block struct {
	self  attention
	cross attention // decoder only
	feed  feedForward
}

// attention's matrices: q, k, v [heads*d_kv, d_model], o [d_model, heads*d_kv].
type attention struct{ q, k, v, o, norm *tensor.Tensor }

// feedForward's matrices: wi and gate (v1.1) [d_ff, d_model], wo [d_model, d_ff].
type feedForward struct{ wi, gate, wo, norm *tensor.Tensor }

func (n *network) Embedding() *tensor.Tensor { return n.shared }
func (n *network) Head() *tensor.Tensor      { return n.head }
func (n *network) Layers() int               { return len(n.decoder.blocks) }

// NOTE the scores are not divided by √d_kv; the initialisation of q does that.
func (n *network) Attention() tensor.AttentionOptions {
	return tensor.AttentionOptions{Heads: n.c.NumHeads, Scale: 1, Dropout: n.c.DropoutRate}
}

// norm is T5LayerNorm.
//
// NOTE no mean is subtracted and no bias added: x / rms(x) * w.
func (n *network) norm(p *seq2seq.Pass, x, w *tensor.Tensor) *tensor.Tensor {
	return p.RMSNorm(x, w, n.c.LayerNormEpsilon)
}

// feedForward is one sublayer, x [T, d_model] -> [T, d_model].
func (n *network) feedForward(p *seq2seq.Pass, x *tensor.Tensor, w feedForward) *tensor.Tensor {
	h := n.norm(p, x, w.norm)
	switch { // h is [T, d_ff] then
	case w.gate != nil: // v1.1: gelu(gate·x) * wi·x
		both := p.Products(h, w.gate, w.wi)
		h = p.Dropout(p.S.Mul(n.activation(p.S, both[0]), both[1]), n.c.DropoutRate)
	case n.relu:
		h = p.ReluDropout(p.Linear(h, w.wi), n.c.DropoutRate)
	default:
		h = p.Dropout(n.activation(p.S, p.Linear(h, w.wi)), n.c.DropoutRate)
	}
	return p.Add(x, p.Wide(h, w.wo), n.c.DropoutRate)
}

// Encode implements seq2seq.Network: x [S, d_model] -> [S, d_model].
func (n *network) Encode(p *seq2seq.Pass, x *tensor.Tensor, seq seq2seq.Sequences) *tensor.Tensor {
	biases := n.biases(p.S, n.encoder, seq.Most, true, seq.Indexes)
	x = p.Dropout(x, n.c.DropoutRate)
	for i, b := range n.encoder.blocks {
		x = p.Segment(x, func(x *tensor.Tensor) *tensor.Tensor {
			of := p.Products(n.norm(p, x, b.self.norm), b.self.q, b.self.k, b.self.v) // [S, heads*d_kv]
			x = p.Add(x, p.Wide(p.Attend(of[0], of[1], of[2], seq2seq.BiasOf(biases, i), seq), b.self.o), n.c.DropoutRate)
			return n.feedForward(p, x, b.feed)
		})
	}
	return p.Dropout(n.norm(p, x, n.encoder.norm), n.c.DropoutRate)
}

func (n *network) Biases(s *tensor.Scope, most int64, indexes *tensor.Tensor) []*tensor.Tensor {
	return n.biases(s, n.decoder, most, false, indexes)
}

// biases are what a stack adds to the scores, [heads, most, most] each, by indexes that were brought to a card or nil.
func (n *network) biases(s *tensor.Scope, of stack, most int64, both bool, indexes *tensor.Tensor) (all []*tensor.Tensor) {
	for _, table := range of.tables {
		if indexes != nil {
			all = append(all, s.RelativeBiasOf(table, most, indexes))
		} else {
			all = append(all, s.RelativeBias(table, most, n.c.buckets(both)))
		}
	}
	return all
}

// buckets are the encoder's, which have one half for each direction, or the decoder's, which only looks back.
func (c Config) buckets(both bool) tensor.Buckets {
	return tensor.Buckets{Number: c.Buckets, MaxDistance: c.MaxDistance, Both: both}
}

// Indexes implements seq2seq.Config: by distance.
func (c Config) Indexes(seq seq2seq.Sequences, encoder bool) ([]int64, error) {
	return c.buckets(encoder).Distances(seq.Most), nil
}

// Keys implements seq2seq.Network: [S, d_model] -> [S, heads*d_kv] each.
func (n *network) Keys(p *seq2seq.Pass, layer int, states *tensor.Tensor) (k, v *tensor.Tensor) {
	cross := n.decoder.blocks[layer].cross
	both := p.Products(states, cross.k, cross.v)
	return both[0], both[1]
}

// Decode implements seq2seq.Network: x [T, d_model] -> [T, d_model].
//
// NOTE cross-attention has no position bias. States times d_model^-0.5 are for a head that is the
// embedding, of another scale.
func (n *network) Decode(p *seq2seq.Pass, x *tensor.Tensor, at seq2seq.Attention) *tensor.Tensor {
	x = p.Dropout(x, n.c.DropoutRate)
	for i, b := range n.decoder.blocks {
		x = p.Segment(x, func(x *tensor.Tensor) *tensor.Tensor {
			of := p.Products(n.norm(p, x, b.self.norm), b.self.q, b.self.k, b.self.v) // [T, heads*d_kv]
			x = p.Add(x, p.Wide(at.Self(i, of[0], of[1], of[2]), b.self.o), n.c.DropoutRate)

			q := p.Linear(n.norm(p, x, b.cross.norm), b.cross.q)
			x = p.Add(x, p.Wide(at.Cross(i, q), b.cross.o), n.c.DropoutRate)
			return n.feedForward(p, x, b.feed)
		})
	}
	x = p.Dropout(p.S.RMSNorm(x, n.decoder.norm, n.c.LayerNormEpsilon), n.c.DropoutRate)
	if !n.c.scales() {
		return x
	}
	return p.S.Scale(x, math.Pow(float64(n.c.DModel), -0.5))
}
