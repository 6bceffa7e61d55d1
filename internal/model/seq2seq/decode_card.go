package seq2seq

import (
	"slices"

	"github.com/redsi/redsi/internal/model/tensor"
)

// cardCache is what a Cache keeps on a card. Steps come first in both buffers, so that rows and heads are one dimension
// of the products of attention, which read the buffers where they are.
type cardCache struct {
	kept  *tensor.Tensor // [most, 2*layers, rows, heads*d]: keys and values of a layer follow one another
	cross *tensor.Tensor // [length of the longest input, 2*layers, inputs, heads*d]
	mask  *tensor.Tensor // [inputs, 1 or heads, 1, >=length]: 0, and hidden after an input's end; nil: all are as long
	input []int64        // inputs of cross that have rows
	plan  cardPlan       // of the next step

	indexes *tensor.Tensor // Config's, of a row of as many tokens as may be written
}

// cardPlan says which of a step's arrays there are, and how rows are grouped.
type cardPlan struct {
	order, inputs, padded bool
	group                 int64 // rows per input, the most
}

// hidden is added to scores of what must not be seen; its sum with a score is finite in every type.
const hidden = -3e4

// encodeOnCard computes the encoder's states of inputs, and brings up with them what a
// cache reads of the inputs: one upload.
func (m *Model) encodeOnCard(s, inner *tensor.Scope, e *Encoding) {
	seq := e.seq
	m.checkTokens(seq.ids)
	rows := int64(len(seq.ids))
	up := s.Upload(m.Device, seq.ids, tensor.PaddingIndexes(seq.Start, seq.Len, rows, 0), m.indexes(seq, true), columns(seq), seq.Len)
	padding := inner.NewPadding(seq.Start, seq.Len, rows, 0, up[1])
	seq.Layout, seq.Indexes = tensor.NewLayout(padding, padding), up[2]
	p, net := m.reading(inner)
	x := inner.IndexSelect(m.net.Embedding(), 0, up[0])
	e.Hidden, e.padded = s.Move(net.Encode(p, x, seq)), up[3:]
}

// indexes returns Config.Indexes, and fails as an operation does.
func (m *Model) indexes(seq Sequences, encoder bool) []int64 {
	all, err := m.Config.Indexes(seq, encoder)
	if err != nil {
		tensor.Failf("model", "%v", err)
	}
	return all
}

// columns are the rows of sequences that are laid out [longest, sequences]: after its end, a sequence repeats its first
// row.
func columns(seq Sequences) []int64 {
	rows := make([]int64, 0, seq.Most*int64(len(seq.Start)))
	for at := range seq.Most {
		for i, start := range seq.Start {
			if at < seq.Len[i] {
				rows = append(rows, start+at)
			} else {
				rows = append(rows, start)
			}
		}
	}
	return rows
}

// beginOnCard is the part of NewCache for a card: one upload.
func (c *Cache) beginOnCard(s *tensor.Scope, e *Encoding) {
	row := pack([][]int32{make([]int32, c.most)})
	c.card = &cardCache{input: slices.Clone(c.input), indexes: c.scope.Upload(c.m.Device, c.m.indexes(row, false))[0]}
	for _, bias := range c.m.net.Biases(s, c.most, c.card.indexes) {
		bias = s.PadLast(s.ToDType(bias, c.m.Compute), aligned(c.most)-c.most, 0)
		c.biases = append(c.biases, c.scope.Move(bias))
	}
	c.keepCross(s, e)
}

// aligned is how many numbers a row of n takes so that libtorch's kernels need no copy of it.
func aligned(n int64) int64 { return (n + 15) / 16 * 16 }

// keepCross computes every layer's keys and values of the inputs.
func (c *Cache) keepCross(s *tensor.Scope, e *Encoding) {
	n, most, layers := int64(e.Len()), e.seq.Most, int64(c.m.net.Layers())
	if slices.Min(e.seq.Len) < most {
		wide := aligned(most)
		after := s.LessEqual(s.View(e.padded[1], n, 1), s.Arange(wide, c.m.Device)) // [inputs, wide]
		none := s.Zeros(c.m.Compute, c.m.Device, n, wide)
		mask := s.View(s.MaskedFill(none, after, hidden), n, 1, 1, wide)
		if c.spreads() {
			mask = s.Contiguous(s.Expand(mask, n, c.m.net.Attention().Heads, 1, wide))
		}
		c.card.mask = c.scope.Move(mask)
	}
	states := s.IndexSelect(e.Hidden, 0, e.padded[0]) // [most*inputs, width]
	p, net := c.m.reading(s)                          // one product for all layers
	for i := range layers {
		k, v := net.Keys(p, int(i), states)
		if c.card.cross == nil {
			c.card.cross = c.scope.Move(s.Empty(k.DType(), c.m.Device, most, 2*layers, n, k.Dim(1)))
		}
		keepBoth(s, s.Transpose(s.Narrow(c.card.cross, 1, 2*i, 2), 0, 1), k, v) // to [2, most, n, w]
	}
}

// Arrays are what a step on a card reads of the host, for one Upload that may have more; StepOn takes it from there.
func (c *Cache) Arrays(tokens []int32) [][]int64 {
	ids := c.read(tokens)
	c.m.checkTokens(ids)
	all := [][]int64{ids}
	c.card.plan = cardPlan{order: c.order != nil && c.steps > 0}
	if c.card.plan.order {
		all = append(all, c.order)
	}
	var inputs, counts []int64 // that have rows, and how many
	for i := 0; i < len(c.input); i++ {
		if i == 0 || c.input[i] != c.input[i-1] {
			inputs, counts = append(inputs, c.input[i]), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	if !slices.Equal(inputs, c.card.input) {
		var places []int64
		for i, at := range c.card.input {
			if _, found := slices.BinarySearch(inputs, at); found {
				places = append(places, int64(i))
			}
		}
		all, c.card.input, c.card.plan.inputs = append(all, places), inputs, true
	}
	c.card.plan.group = slices.Max(counts)
	if c.card.plan.padded = slices.Min(counts) < c.card.plan.group; c.card.plan.padded {
		grid, back := pad(counts, c.card.plan.group)
		all = append(all, grid, back)
	}
	return all
}

// pad lays groups of rows out as groups of most: grid is the row at each place, a
// group's first one where it has none, and back is each row's place.
func pad(counts []int64, most int64) (grid, back []int64) {
	first := int64(0)
	for g, n := range counts {
		for i := range most {
			if i < n {
				back = append(back, int64(g)*most+i)
				grid = append(grid, first+i)
			} else {
				grid = append(grid, first)
			}
		}
		first += n
	}
	return grid, back
}

// StepOn is Step with the tensors that Arrays became, for the tokens that were given to
// it; more tensors may follow them. It copies nothing to the card.
func (c *Cache) StepOn(s *tensor.Scope, up []*tensor.Tensor) (states *tensor.Tensor) {
	plan := c.card.plan
	take := func() *tensor.Tensor {
		t := up[0]
		up = up[1:]
		return t
	}
	tensor.Reading(func(inner *tensor.Scope) {
		ids := take()
		at := &cardNext{next: next{Cache: c}, group: plan.group}
		for _, bias := range c.biases {
			now := inner.Narrow(bias, 1, c.steps, 1) // [heads, 1, >=steps+1]
			if len(c.biases) == 1 && c.spreads() {
				now = inner.Contiguous(inner.Expand(now, append([]int64{int64(len(c.input))}, now.Shape()...)...))
			}
			at.now = append(at.now, inner.Narrow(now, -1, 0, c.steps+1))
		}
		p, net := c.m.reading(inner)
		at.Pass = p
		if plan.order {
			c.reorder(inner, take())
		}
		if plan.inputs {
			c.leave(inner, take())
		}
		if plan.padded {
			at.grid, at.back = take(), take()
		}
		if c.card.mask != nil {
			at.mask = inner.Narrow(c.card.mask, 3, 0, c.card.cross.Dim(0))
		}
		x := inner.IndexSelect(c.m.net.Embedding(), 0, ids)
		states = s.Move(net.Decode(p, x, at))
	})
	c.steps++
	c.order = nil
	return states
}

// spreads: what is added to scores is laid out for every row or input and head, once for all layers. Products want it
// so, and would copy it in each; the memory-efficient kernel, which other types than float32 have, does not.
func (c *Cache) spreads() bool { return c.m.Compute == tensor.F32 }

// reorder puts the kept keys and values into the order of rows.
func (c *Cache) reorder(s *tensor.Scope, order *tensor.Tensor) {
	shape := c.card.kept.Shape()
	shape[2] = int64(len(c.input))
	to := s.Empty(c.card.kept.DType(), c.m.Device, shape...)
	s.IndexSelectInto(s.Narrow(to, 0, 0, c.steps), s.Narrow(c.card.kept, 0, 0, c.steps), 2, order)
	tensor.Free(c.card.kept)
	c.card.kept = c.scope.Move(to)
}

// leave keeps the keys and values of some of the inputs, by their places.
func (c *Cache) leave(s *tensor.Scope, places *tensor.Tensor) {
	keep := func(t **tensor.Tensor, dim int64) {
		left := s.IndexSelect(*t, dim, places)
		tensor.Free(*t)
		*t = c.scope.Move(left)
	}
	keep(&c.card.cross, 2)
	if c.card.mask != nil {
		keep(&c.card.mask, 0)
	}
}

// cardNext is the Attention of one step on a card.
type cardNext struct {
	next
	group      int64          // rows per input
	mask       *tensor.Tensor // of cross, as long as its inputs
	grid, back *tensor.Tensor // where inputs have not as many
}

// Indexes are the indexes of the rows' positions, where Config has one for each.
func (n *cardNext) Indexes() *tensor.Tensor {
	return n.S.Expand(n.S.Narrow(n.card.indexes, 0, n.steps, 1), int64(len(n.input)))
}

func (n *cardNext) Self(layer int, q, k, v *tensor.Tensor) *tensor.Tensor {
	rows, w := q.Dim(0), k.Dim(1)
	if n.card.kept == nil {
		n.card.kept = n.scope.Move(n.S.Empty(k.DType(), n.Device, n.most, 2*int64(n.m.net.Layers()), rows, w))
	}
	kept := n.S.Narrow(n.card.kept, 1, 2*int64(layer), 2) // [most, 2, rows, w]
	keepBoth(n.S, n.S.Select(kept, 0, n.steps), k, v)
	so := func(i int64) *tensor.Tensor { // [rows, steps+1, w]
		return n.S.Transpose(n.S.Select(n.S.Narrow(kept, 0, 0, n.steps+1), 1, i), 0, 1)
	}
	k, v = so(0), so(1)
	out := n.S.BatchAttention(n.S.View(q, rows, 1, -1), k, v, BiasOf(n.now, layer), n.heads)
	return n.S.View(out, rows, -1)
}

// keepBoth copies keys and values [rows, w] to [2, …, w] of as many rows: at once where they are parts of a product.
func keepBoth(s *tensor.Scope, to, k, v *tensor.Tensor) {
	shape := to.Shape()
	if both := s.Pair(k, v); both != nil {
		s.CopyInPlace(to, s.View(both, shape...))
		return
	}
	s.CopyInPlace(s.Select(to, 0, 0), s.View(k, shape[1:]...))
	s.CopyInPlace(s.Select(to, 0, 1), s.View(v, shape[1:]...))
}

func (n *cardNext) Cross(layer int, q *tensor.Tensor) *tensor.Tensor {
	of := func(i int64) *tensor.Tensor { // [inputs, length, w]
		return n.S.Transpose(n.S.Select(n.card.cross, 1, i), 0, 1)
	}
	if n.grid != nil {
		q = n.S.IndexSelect(q, 0, n.grid)
	}
	places, inputs := q.Dim(0), int64(len(n.card.input))
	out := n.S.BatchAttention(n.S.View(q, inputs, n.group, -1), of(2*int64(layer)), of(2*int64(layer)+1), n.mask, n.heads)
	out = n.S.View(out, places, -1)
	if n.back != nil {
		out = n.S.IndexSelect(out, 0, n.back)
	}
	return out
}

// Dimensions are the numbers of a model with which the memory of decoding grows.
type Dimensions struct {
	Layers int64 // of the decoder
	Keys   int64 // numbers of a token's keys in a layer
	Heads  int64
	Widest int64 // numbers of a token's state where it is largest
}

// Dimensions of the model; inside tensor.Run.
func (m *Model) Dimensions() (d Dimensions) {
	d.Layers, d.Heads = int64(m.net.Layers()), m.net.Attention().Heads
	for _, s := range Specs(m.Config) {
		if len(s.Shape) == 2 && s.Shape[0] != m.Vocabulary().Size {
			d.Widest = max(d.Widest, s.Shape[0], s.Shape[1])
		}
	}
	tensor.Reading(func(s *tensor.Scope) {
		k, _ := m.net.Keys(m.pass(s, nil), 0, s.Zeros(tensor.F32, m.Device, 1, m.net.Embedding().Dim(1)))
		d.Keys = k.Dim(1)
	})
	return d
}

// HeadRows are the output matrix's of tokens from … from+n-1, for LogitsOf, in float32. They are
// good for as long as the weights are, whose memory they share.
func (m *Model) HeadRows(s *tensor.Scope, from, n int64) (head *tensor.Tensor) {
	tensor.NoGrad(func() { head = s.Narrow(m.Head(), 0, from, n) })
	return head
}

// LogitsOf are the scores of HeadRows' tokens after states [rows, width], in head's type.
func (m *Model) LogitsOf(s *tensor.Scope, states, head *tensor.Tensor) (logits *tensor.Tensor) {
	tensor.NoGrad(func() { logits = s.Linear(s.ToDType(states, head.DType()), head) })
	return logits
}
