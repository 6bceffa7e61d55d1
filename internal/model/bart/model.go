package bart

import (
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// network is a seq2seq.Network.
type network struct {
	c                Config
	shared           *tensor.Tensor // [vocab_size, d_model]
	encoder, decoder stack
}

// stack is the encoder or the decoder.
type stack struct {
	positions *tensor.Tensor // [max_position_embeddings+2, d_model]
	norm      dense          // of embeddings
	layers    []layer
}

// dense is a matrix [out, in] and a bias [out], or a norm's scale and shift [d_model].
type dense = seq2seq.Dense

type layer struct {
	self, cross   attention // cross: decoder only
	in, out, norm dense     // feed-forward: [ffn, d_model], [d_model, ffn]
}

// attention's matrices are [d_model, d_model].
type attention struct{ q, k, v, o, norm dense }

func (n *network) Embedding() *tensor.Tensor { return n.shared }
func (n *network) Head() *tensor.Tensor      { return n.shared }
func (n *network) Layers() int               { return len(n.decoder.layers) }

func (n *network) Attention() tensor.AttentionOptions {
	return tensor.AttentionOptions{Heads: n.c.EncoderHeads, Scale: math.Pow(float64(n.c.DModel/n.c.EncoderHeads), -0.5), Dropout: n.c.AttentionDropout}
}

// norm is LayerNorm, [T, d_model] -> [T, d_model].
//
// NOTE libtorch's own gradients of scale and shift depend on a CPU's number of threads; those
// of a product and a sum do not.
func (n *network) norm(p *seq2seq.Pass, x *tensor.Tensor, w dense) *tensor.Tensor {
	if p.Device.IsCUDA() {
		return p.S.LayerNorm(x, w.W, w.B, 1e-5)
	}
	d := n.c.DModel
	ones, zeros := p.S.Full(1, tensor.F32, p.Device, d), p.S.Zeros(tensor.F32, p.Device, d)
	return p.S.Add(p.S.Mul(p.S.LayerNorm(x, ones, zeros, 1e-5), w.W), w.B)
}

// add is a sublayer's end: the residual connection, then the norm.
func (n *network) add(p *seq2seq.Pass, x, y *tensor.Tensor, norm dense) *tensor.Tensor {
	return n.norm(p, p.Add(x, y, n.c.Dropout), norm)
}

// embed adds positions to embedded tokens x [T, d_model].
//
// Indexes are the rows of their table, on a card; nil: embed computes them.
func (n *network) embed(p *seq2seq.Pass, x *tensor.Tensor, positions func() []int64, indexes *tensor.Tensor, of stack) *tensor.Tensor {
	if indexes == nil {
		rows, err := n.c.rows(positions())
		if err != nil {
			tensor.Failf("BART", "%v", err)
		}
		indexes = p.S.FromInt64s(rows, p.Device, int64(len(rows)))
	}
	if n.c.ScaleEmbedding {
		x = p.S.Scale(x, math.Sqrt(float64(n.c.DModel)))
	}
	x = p.S.Add(x, p.S.IndexSelect(of.positions, 0, indexes))
	return p.Dropout(n.norm(p, x, of.norm), n.c.Dropout)
}

// rows are positions' places in their tables.
func (c Config) rows(positions []int64) ([]int64, error) {
	rows := make([]int64, len(positions))
	for i, at := range positions {
		if at >= c.MaxPositions {
			return nil, fmt.Errorf("a sequence of more than %d tokens, for which the model has no positions", c.MaxPositions)
		}
		rows[i] = at + offset
	}
	return rows, nil
}

func (c Config) Indexes(seq seq2seq.Sequences, _ bool) ([]int64, error) {
	return c.rows(seq.Positions())
}

// feedForward is one sublayer, x [T, d_model] -> [T, d_model].
func (n *network) feedForward(p *seq2seq.Pass, x *tensor.Tensor, l layer) *tensor.Tensor {
	h := p.Dropout(p.S.Gelu(p.Affine(x, l.in), false), n.c.ActivationDropout) // [T, ffn]
	return n.add(p, x, p.Affine(h, l.out), l.norm)
}

// Encode implements seq2seq.Network: x [S, d_model] -> [S, d_model].
func (n *network) Encode(p *seq2seq.Pass, x *tensor.Tensor, seq seq2seq.Sequences) *tensor.Tensor {
	x = n.embed(p, x, seq.Positions, seq.Indexes, n.encoder)
	for _, l := range n.encoder.layers {
		x = p.Segment(x, func(x *tensor.Tensor) *tensor.Tensor {
			of := p.Affines(x, l.self.q, l.self.k, l.self.v) // [S, d_model]
			x = n.add(p, x, p.Affine(p.Attend(of[0], of[1], of[2], nil, seq), l.self.o), l.self.norm)
			return n.feedForward(p, x, l)
		})
	}
	return x
}

// Biases implements seq2seq.Network: positions are learned, attention has none.
func (n *network) Biases(*tensor.Scope, int64, *tensor.Tensor) []*tensor.Tensor { return nil }

// Keys implements seq2seq.Network: [S, d_model] -> [S, d_model] each.
func (n *network) Keys(p *seq2seq.Pass, layer int, states *tensor.Tensor) (k, v *tensor.Tensor) {
	cross := n.decoder.layers[layer].cross
	both := p.Affines(states, cross.k, cross.v)
	return both[0], both[1]
}

// Decode implements seq2seq.Network: x [T, d_model] -> [T, d_model].
func (n *network) Decode(p *seq2seq.Pass, x *tensor.Tensor, at seq2seq.Attention) *tensor.Tensor {
	x = n.embed(p, x, at.Positions, at.Indexes(), n.decoder)
	for i, l := range n.decoder.layers {
		x = p.Segment(x, func(x *tensor.Tensor) *tensor.Tensor {
			of := p.Affines(x, l.self.q, l.self.k, l.self.v) // [T, d_model]
			x = n.add(p, x, p.Affine(at.Self(i, of[0], of[1], of[2]), l.self.o), l.self.norm)
			x = n.add(p, x, p.Affine(at.Cross(i, p.Affine(x, l.cross.q)), l.cross.o), l.cross.norm)
			return n.feedForward(p, x, l)
		})
	}
	return x
}
