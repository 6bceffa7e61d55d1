package bert

import (
	"fmt"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/model/int8s"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// Model is an encoder on one device. Several goroutines may use it at once.
type Model struct {
	Config Config
	Device tensor.Device
	Unused []string // tensors of its file that nothing is computed with

	scope                   *tensor.Scope
	words, positions, types *tensor.Tensor // [vocab | positions | types, embedding]; types or nil
	norm                    dense
	project                 *dense         // of embeddings to the hidden size; nil: they have it
	relative                *tensor.Tensor // [buckets, heads], of relative positions, or nil
	activation              tensor.Activation
	compute                 tensor.DType    // of the layers' products: F32, or BF16 after ToBF16
	int8                    *int8s.Matrices // of the layers' products after ToInt8; nil: there are none
	long                    int64           // tokens, on average, of texts that are attended to one by one: longTexts
	layers                  []layer
}

// dense is a matrix [out, in] and a bias [out], or a norm's scale and shift.
type dense = int8s.Dense

type layer struct{ q, k, v, o, afterAttention, in, out, after dense }

// In has products in a precision: "fp32", "bf16" (ToBF16) or "int8" (ToInt8).
func (m *Model) In(precision string) error {
	switch precision {
	case "bf16":
		return m.ToBF16()
	case "int8":
		return m.ToInt8()
	}
	return nil
}

// Slow is what a user should know of a precision that takes longer than fp32 on this processor; "" of others.
func (m *Model) Slow() string {
	if m.int8 != nil {
		return int8s.Slow()
	}
	return tensor.SlowBF16(m.compute, m.Device)
}

// ToBF16 rounds the layers' matrices and their biases, once, to multiply by them in BF16 from now on. Sums within products,
// softmax and norms stay float32, and so do embeddings and what Embed and States return; states between
// layers are BF16 on a CPU and float32 on a card. It is called before anything is computed, and once.
func (m *Model) ToBF16() error {
	return tensor.Try(func() {
		m.compute = tensor.BF16
		for i := range m.layers {
			l := &m.layers[i]
			for _, d := range []*dense{&l.q, &l.k, &l.v, &l.o, &l.in, &l.out} {
				wide := *d
				*d = dense{W: m.scope.PackBF16(wide.W), B: m.scope.ToDType(wide.B, tensor.BF16)}
				tensor.Free(wide.W, wide.B)
			}
		}
	})
}

// ToInt8 rounds the layers' matrices to int8, once, to multiply by them from now on (int8s.Matrices). Attention is in
// BF16 on processors with products of BF16 for PackedAttention, and everything else stays float32. It is called before
// anything is computed, and once; a card is an error.
func (m *Model) ToInt8() (err error) {
	if m.int8, err = int8s.New(m.Device); err != nil {
		return err
	}
	return tensor.Do(func(s *tensor.Scope) error {
		for _, l := range m.layers {
			for _, w := range []*tensor.Tensor{l.q.W, l.k.W, l.v.W, l.o.W, l.in.W, l.out.W} {
				m.int8.Pack(s, w)
				tensor.Free(w)
			}
		}
		return nil
	})
}

func (m *Model) Close() { m.scope.Close() }

// Pooling says which vector stands for a text.
type Pooling string

const (
	CLS  Pooling = "cls"  // the last hidden state of the first token
	Mean Pooling = "mean" // the mean of all tokens' last hidden states, [CLS] and [SEP] included
	Max  Pooling = "max"  // the largest of them, by number
)

// Embed returns one vector of Config.Hidden numbers per text. Texts are token ids with [CLS] and [SEP], at most
// Config.MaxTokens long. They are computed in batches of about budget tokens, in the order of their length, so that
// memory depends on the budget and not on the number of texts.
func (m *Model) Embed(texts [][]int32, pooling Pooling, budget int) ([][]float32, error) {
	if pooling != CLS && pooling != Mean && pooling != Max {
		return nil, fmt.Errorf("encoder: pooling %q; use cls, mean or max", pooling)
	}
	for i, ids := range texts {
		if n := int64(len(ids)); n == 0 || n > m.Config.MaxTokens() {
			return nil, fmt.Errorf("encoder: text %d has %d tokens, want 1 to %d", i, n, m.Config.MaxTokens())
		}
		for j, id := range ids {
			if id < 0 || int64(id) >= m.Config.VocabSize {
				return nil, fmt.Errorf("encoder: text %d: token %d at %d is outside of the vocabulary of %d", i, id, j, m.Config.VocabSize)
			}
		}
	}
	order := lists.Places(len(texts))
	slices.SortStableFunc(order, func(a, b int) int { return len(texts[a]) - len(texts[b]) })
	vectors := make([][]float32, len(texts))
	for len(order) > 0 {
		n, tokens := 0, 0
		for n < len(order) {
			length := len(texts[order[n]])
			if tokens += length; m.Device.IsCUDA() {
				tokens = (n + 1) * length // they are padded to the longest
			}
			if n > 0 && tokens > budget {
				break
			}
			n++
		}
		batch := lists.Map(order[:n], func(at int) []int32 { return texts[at] })
		var pooled []float32
		err := tensor.Run(func(s *tensor.Scope) {
			tensor.NoGrad(func() {
				if m.Device.IsCUDA() {
					pooled = m.onCard(s, batch, pooling).Float32s()
				} else {
					pooled = m.pool(s, m.States(s, batch), batch, pooling).Float32s()
				}
			})
		})
		if err != nil {
			return nil, err
		}
		for i, at := range order[:n] {
			vectors[at] = pooled[int64(i)*m.Config.Hidden : int64(i+1)*m.Config.Hidden]
		}
		order = order[n:]
	}
	return vectors, nil
}

// States are the last hidden states of all texts, one after another: [T, hidden]. All tokens are of type 0.
func (m *Model) States(s *tensor.Scope, texts [][]int32) *tensor.Tensor {
	var ids, places []int64
	var most int64 // tokens of the longest
	heads := tensor.AttentionOptions{Heads: m.Config.Heads, Scale: m.scale()}
	var spans tensor.Spans
	for _, text := range texts {
		spans.QStart, spans.QLen = append(spans.QStart, int64(len(ids))), append(spans.QLen, int64(len(text)))
		ids, places = m.place(ids, places, text)
		most = max(most, int64(len(text)))
	}
	spans.KStart, spans.KLen = spans.QStart, spans.QLen
	var out *tensor.Tensor
	tensor.Within(func(inner *tensor.Scope) {
		n := int64(len(ids))
		x := m.embed(inner, inner.FromInt64s(ids, m.Device, n), inner.FromInt64s(places, m.Device, n))
		var bias *tensor.Tensor
		if m.relative != nil {
			bias = inner.RelativeBias(m.relative, most, m.buckets())
		}
		out = s.Move(m.encode(inner, x, func(s *tensor.Scope, q, k, v *tensor.Tensor) *tensor.Tensor {
			if m.packed() && n >= m.long*int64(len(texts)) {
				return textByText(s, q, k, v, bias, spans, heads)
			}
			if m.int8 != nil && attendsBF16() {
				return s.ToDType(s.PackedAttention(s.ToDType(q, tensor.BF16), s.ToDType(k, tensor.BF16), s.ToDType(v, tensor.BF16), bias, spans, heads), tensor.F32)
			}
			return s.PackedAttention(q, k, v, bias, spans, heads)
		}))
	})
	return out
}

// longTexts is of how many tokens on average texts are attended to one by one, by products of BF16, which round the scores too: where
// PackedAttention multiplies in float32 it is as fast from 300 tokens down, and nowhere where it has products of BF16.
func longTexts() int64 {
	if attendsBF16() {
		return math.MaxInt32
	}
	return 384
}

// attendsBF16 says whether PackedAttention has products of BF16 on this processor.
func attendsBF16() bool { return tensor.SameForAnyRows() && tensor.MultipliesBF16() }

// textByText is PackedAttention by products of q's type.
func textByText(s *tensor.Scope, q, k, v, bias *tensor.Tensor, spans tensor.Spans, heads tensor.AttentionOptions) *tensor.Tensor {
	all := make([]*tensor.Tensor, len(spans.QLen))
	for i, n := range spans.QLen {
		of := func(t *tensor.Tensor) *tensor.Tensor { return s.Unsqueeze(s.Narrow(t, 0, spans.QStart[i], n), 0) }
		var own *tensor.Tensor
		if bias != nil {
			own = s.Narrow(s.Narrow(bias, 1, 0, n), 2, 0, n)
		}
		all[i] = s.View(s.BatchAttention(of(q), of(k), of(v), own, heads), n, -1)
	}
	return s.Cat(0, all...)
}

// embed is the states of tokens and their rows of the table of positions: [T, hidden].
func (m *Model) embed(s *tensor.Scope, ids, places *tensor.Tensor) *tensor.Tensor {
	x := s.IndexSelect(m.words, 0, ids) // [T, embedding]
	s.AddInPlace(x, s.IndexSelect(m.positions, 0, places))
	if m.types != nil {
		s.AddInPlace(x, s.Select(m.types, 0, 0))
	}
	x = m.normalize(s, x, m.norm)
	if m.project != nil {
		x = s.LinearBias(x, m.project.W, m.project.B)
	}
	return x
}

func (m *Model) buckets() tensor.Buckets {
	return tensor.Buckets{Number: m.Config.Buckets, MaxDistance: mpnetDistance, Both: true}
}

// encode is all layers, [T, hidden] -> [T, hidden], with attention between the rows.
func (m *Model) encode(s *tensor.Scope, x *tensor.Tensor, attend attention) *tensor.Tensor {
	if m.packed() {
		x = s.ToDType(x, m.compute)
	}
	for _, l := range m.layers {
		tensor.Within(func(layer *tensor.Scope) { x = s.Move(m.layer(layer, x, l, attend)) })
	}
	return s.ToDType(x, tensor.F32)
}

// attention is of q, k and v [T, heads*d] each.
type attention func(s *tensor.Scope, q, k, v *tensor.Tensor) *tensor.Tensor

func (m *Model) scale() float64 { return 1 / math.Sqrt(float64(m.Config.Hidden/m.Config.Heads)) }

// place appends a text's tokens and their rows of the table of positions.
func (m *Model) place(ids, places []int64, text []int32) (all, rows []int64) {
	next := int64(0)
	for _, id := range text {
		row := next
		if pad := m.Config.Pad; m.Config.family.afterPad {
			// NOTE fairseq's counting of a pad token, which may be written in a text, is left out.
			if row = pad; int64(id) != pad {
				next++
				row = pad + next
			}
		} else {
			next++
		}
		ids, places = append(ids, int64(id)), append(places, row)
	}
	return ids, places
}

// layer is one block, [T, hidden] -> [T, hidden].
func (m *Model) layer(s *tensor.Scope, x *tensor.Tensor, l layer, attend attention) *tensor.Tensor {
	in := s.ToDType(x, m.compute)
	qkv := m.products(s, in, l.q, l.k, l.v) // [T, heads*d] each
	h := attend(s, qkv[0], qkv[1], qkv[2])
	x = m.normalize(s, m.plus(s, h, l.o, x), l.afterAttention)
	return m.normalize(s, m.plus(s, m.activated(s, x, l.in), l.out, x), l.after)
}

// packed says whether LinearPacked multiplies.
func (m *Model) packed() bool { return m.compute == tensor.BF16 && !m.Device.IsCUDA() }

// products are x·wᵀ + b of each, in the compute type; in int8 x is rounded once.
func (m *Model) products(s *tensor.Scope, x *tensor.Tensor, all ...dense) []*tensor.Tensor {
	if m.int8 != nil {
		return m.int8.Products(s, x, all...)
	}
	return lists.Map(all, func(d dense) *tensor.Tensor {
		if m.packed() {
			return s.LinearPackedBF16(x, d.W, d.B, nil, "")
		}
		return s.LinearBias(s.ToDType(x, m.compute), d.W, d.B)
	})
}

// activated is the activation of a product: [T, intermediate].
func (m *Model) activated(s *tensor.Scope, x *tensor.Tensor, d dense) *tensor.Tensor {
	if m.packed() {
		return s.LinearPackedBF16(x, d.W, d.B, nil, m.Config.Activation)
	}
	return m.activation(s, m.products(s, x, d)[0])
}

// plus is a product and the residual.
func (m *Model) plus(s *tensor.Scope, x *tensor.Tensor, d dense, residual *tensor.Tensor) *tensor.Tensor {
	if m.packed() {
		return s.LinearPackedBF16(x, d.W, d.B, residual, "")
	}
	h := m.products(s, x, d)[0]
	if m.compute == tensor.BF16 {
		return s.AddDropout(residual, h, 0, nil)
	}
	s.AddInPlace(h, residual)
	return h
}

func (m *Model) normalize(s *tensor.Scope, x *tensor.Tensor, n dense) *tensor.Tensor {
	return s.LayerNorm(x, n.W, n.B, m.Config.Epsilon)
}

// pool reduces states [T, hidden] to [texts, hidden].
func (m *Model) pool(s *tensor.Scope, states *tensor.Tensor, texts [][]int32, pooling Pooling) *tensor.Tensor {
	var first []int64
	var rows []*tensor.Tensor
	at := int64(0)
	for _, text := range texts {
		first = append(first, at)
		of := func() *tensor.Tensor { return s.Narrow(states, 0, at, int64(len(text))) }
		switch pooling {
		case Mean:
			rows = append(rows, s.MeanDim(of(), 0, true))
		case Max:
			rows = append(rows, s.MaxDim(of(), 0, true))
		}
		at += int64(len(text))
	}
	if pooling != CLS {
		return s.Cat(0, rows...)
	}
	return s.IndexSelect(states, 0, s.FromInt64s(first, m.Device, int64(len(first))))
}
