package seq2seq

import (
	"slices"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// Encoding is a set of encoded inputs, packed.
type Encoding struct {
	Hidden *tensor.Tensor // [sum of lengths, width]
	seq    Sequences
	padded []*tensor.Tensor // on a card: rows of Hidden [longest, inputs], and lengths
	packed *Packed          // matrices of products; nil: they are what they are
}

func (e *Encoding) Len() int { return len(e.seq.Start) }

// Encode runs the encoder over inputs, without dropout and without gradients. It and caches of the result multiply by copies of the
// matrices, which must outlive them; nil: by themselves.
func (m *Model) Encode(s *tensor.Scope, inputs [][]int32, by *Packed) *Encoding {
	seq := pack(inputs)
	e := &Encoding{seq: seq, packed: by}
	tensor.Reading(func(inner *tensor.Scope) {
		if m.Device.IsCUDA() {
			m.encodeOnCard(s, inner, e)
		} else {
			p, net := m.reading(inner)
			p.packed = by
			e.Hidden = s.Move(net.Encode(p, m.embed(inner, seq.ids), seq))
		}
	})
	return e
}

// Cache is the decoder's state for a set of rows, each of them an unfinished sequence that belongs to one input. A new
// one has one empty row per input. Cross-attention keys and values are computed once per input and shared by its rows;
// self-attention keys and values are kept per row.
type Cache struct {
	m      *Model
	scope  *tensor.Scope
	seq    Sequences        // where each input's cross-attention rows are
	input  []int64          // input of each row, never decreasing
	steps  int64            // tokens written so far
	most   int64            // tokens that may be written
	biases []*tensor.Tensor // [heads, most, most] each: Network.Biases
	layers []cacheLayer     // per decoder block; none on a card
	order  []int64          // rows to take before the next step; nil: as they are
	packed *Packed          // the Encoding's
	card   *cardCache       // what is kept on a card; nil on a CPU
}

type cacheLayer struct {
	crossK, crossV *tensor.Tensor // [sum of input lengths, heads*d]
	k, v           *tensor.Tensor // [rows, steps, heads*d], nil before the first step
}

// NewCache prepares decoding of at most the given number of tokens per row.
func (m *Model) NewCache(e *Encoding, most int) *Cache {
	c := &Cache{m: m, scope: tensor.NewScope(), seq: e.seq, most: int64(most), packed: e.packed}
	for i := range e.Len() {
		c.input = append(c.input, int64(i))
	}
	tensor.Reading(func(inner *tensor.Scope) {
		if m.Device.IsCUDA() {
			c.beginOnCard(inner, e)
			return
		}
		for _, bias := range m.net.Biases(inner, c.most, nil) {
			c.biases = append(c.biases, c.scope.Move(bias))
		}
		p, net := m.reading(inner)
		p.packed = e.packed
		for i := range net.Layers() {
			k, v := net.Keys(p, i, e.Hidden)
			c.layers = append(c.layers, cacheLayer{crossK: c.scope.Move(k), crossV: c.scope.Move(v)})
		}
	})
	return c
}

func (c *Cache) Close() { c.scope.Close() }

// Rows is the number of rows that the next Step takes tokens for.
func (c *Cache) Rows() int { return len(c.input) }

// Select makes row i what row parents[i] was: beams change places, a row becomes many, finished ones are left out. The
// rows of one input stay together, inputs in their order. Nothing is copied until the next Step.
func (c *Cache) Select(parents []int64) {
	input := make([]int64, len(parents))
	order := slices.Clone(parents)
	for i, p := range parents {
		if p < 0 || p >= int64(len(c.input)) {
			tensor.Failf("model", "row %d of a cache of %d rows", p, len(c.input))
		}
		input[i] = c.input[p]
		if i > 0 && input[i] < input[i-1] {
			tensor.Failf("model", "row %d belongs to input %d, the row before it to %d", i, input[i], input[i-1])
		}
		if c.order != nil {
			order[i] = c.order[p]
		}
	}
	c.input, c.order = input, order
}

// Step reads one token per row and returns the decoder's states, ready for LogitsOf:
// [rows, w], owned by s. The first token is the vocabulary's Start.
func (c *Cache) Step(s *tensor.Scope, tokens []int32) (states *tensor.Tensor) {
	ids := c.read(tokens)
	if c.card != nil {
		tensor.Within(func(inner *tensor.Scope) {
			states = s.Move(c.StepOn(inner, inner.Upload(c.m.Device, c.Arrays(tokens)...)))
		})
		return states
	}
	rows := int64(len(ids))
	tensor.Reading(func(inner *tensor.Scope) {
		p, net := c.m.reading(inner)
		at := &next{Cache: c, Pass: p}
		p.packed = c.packed
		at.self, at.cross = c.spans()
		for _, bias := range c.biases {
			at.now = append(at.now, inner.Narrow(bias, 1, c.steps, 1)) // [heads, 1, most]
		}
		if c.order != nil {
			at.order = inner.FromInt64s(c.order, c.m.Device, rows)
		}
		states = s.Move(net.Decode(p, c.m.embed(inner, ids), at))
	})
	c.steps++
	c.order = nil
	return states
}

// read checks a step's tokens, one per row.
func (c *Cache) read(tokens []int32) []int64 {
	if len(tokens) == 0 || len(tokens) != len(c.input) {
		tensor.Failf("model", "%d tokens for %d rows", len(tokens), len(c.input))
	}
	if c.steps == c.most {
		tensor.Failf("model", "the cache has room for %d tokens", c.most)
	}
	return lists.Map(tokens, func(t int32) int64 { return int64(t) })
}

// next is the Attention of one step.
type next struct {
	*Cache
	*Pass
	self, cross tensor.Spans
	now         []*tensor.Tensor // of biases, this step's rows
	order       *tensor.Tensor
}

func (n *next) Positions() []int64 { return slices.Repeat([]int64{n.steps}, len(n.input)) }

func (n *next) Indexes() *tensor.Tensor { return nil }

func (n *next) Self(layer int, q, k, v *tensor.Tensor) *tensor.Tensor {
	l := &n.layers[layer]
	k, v = n.extend(n.S, &l.k, k, n.order), n.extend(n.S, &l.v, v, n.order)
	return n.S.PackedAttention(q, k, v, BiasOf(n.now, layer), n.self, n.heads)
}

func (n *next) Cross(layer int, q *tensor.Tensor) *tensor.Tensor {
	l := n.layers[layer]
	return n.S.PackedAttention(q, l.crossK, l.crossV, nil, n.cross, n.heads)
}

// spans are the sequences of one step: in self-attention each row is one, in
// cross-attention all rows of an input are the queries of one.
func (c *Cache) spans() (self, cross tensor.Spans) {
	n := c.steps + 1
	for i := range c.input {
		self.QStart, self.QLen = append(self.QStart, int64(i)), append(self.QLen, 1)
		self.KStart, self.KLen = append(self.KStart, int64(i)*n), append(self.KLen, n)
	}
	for i := 0; i < len(c.input); {
		of, first := c.input[i], i
		for i < len(c.input) && c.input[i] == of {
			i++
		}
		cross.QStart, cross.QLen = append(cross.QStart, int64(first)), append(cross.QLen, int64(i-first))
		cross.KStart, cross.KLen = append(cross.KStart, c.seq.Start[of]), append(cross.KLen, c.seq.Len[of])
	}
	return self, cross
}

// extend replaces kept, [old rows, steps, w], by its rows in the new order with one
// more step, and returns it as [rows*(steps+1), w].
func (c *Cache) extend(s *tensor.Scope, kept **tensor.Tensor, step, order *tensor.Tensor) *tensor.Tensor {
	rows, w := step.Dim(0), step.Dim(1)
	next := s.View(step, rows, 1, w)
	if old := *kept; old != nil {
		next = s.Extend(old, order, step) // [rows, steps+1, w]
		tensor.Free(*kept)
	}
	*kept = c.scope.Alias(next)
	return s.View(next, -1, w)
}
