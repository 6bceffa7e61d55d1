package bart

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/calls"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

// small is a BART whose vocabulary is as long as no other dimension.
func small() Config {
	c := Defaults()
	c.VocabSize, c.DModel, c.EncoderLayers, c.DecoderLayers, c.EncoderHeads, c.DecoderHeads, c.EncoderFFN, c.DecoderFFN = 211, 24, 1, 1, 3, 3, 32, 32
	return c
}

// drawn is a model of random parameters.
func drawn(t *testing.T, device tensor.Device) *seq2seq.Model {
	t.Helper()
	m, err := seq2seq.Init(small(), 5, device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// TestHeadIsACopy: a step multiplies by the copies of the head that are there, after the first
// one, and of matrices of its size casts its gradient alone.
func TestHeadIsACopy(t *testing.T) {
	defer tensor.Emulate()()
	m := drawn(t, tensor.CUDA(0))
	b := seq2seq.Batch{Inputs: [][]int32{{5, 6, 7, 2}, {8, 2}}, Labels: [][]int32{{7, 2}, {8, 9, 2}}}
	type tensors struct{ Shape []int64 }
	for _, compute := range []tensor.DType{tensor.BF16, tensor.F16} {
		m.Compute = compute
		tensortest.Run(t, func(s *tensor.Scope) {
			step := func() { m.Gradients(s, m.Prepare(b), nil, seq2seq.Scale{}) }
			step()
			for operator, most := range map[string]int{"aten::_to_copy": 1, "aten::cat": 0, "aten::clone": 0} {
				var all []struct {
					Operator string
					Takes    []json.RawMessage
					Gives    []tensors
				}
				text := calls.Of(operator, step)
				if err := json.Unmarshal([]byte(text), &all); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				n := 0
				for _, call := range all {
					if len(call.Gives[0].Shape) == 2 && call.Gives[0].Shape[0] == m.Vocabulary().Size {
						n++
					}
				}
				if n > most {
					t.Errorf("%s: %d of %s have a row for each token, want %d", compute, n, operator, most)
				}
			}
		})
	}
}

// TestScoresOnACard: losses, scores of all tokens and of some, whole and step by step, are a
// CPU's on a card.
func TestScoresOnACard(t *testing.T) {
	b := seq2seq.Batch{Inputs: [][]int32{{5, 6, 7, 2}, {8, 2}}, Labels: [][]int32{{7, 2}, {8, 9, 2}}}
	of := func(device tensor.Device, compute tensor.DType) (all []float32) {
		m := drawn(t, device)
		m.Compute = compute
		loss, err := m.Loss(b)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, float32(loss))
		tensortest.Run(t, func(s *tensor.Scope) {
			of, _ := m.Gradients(s, m.Prepare(b), nil, seq2seq.Scale{})
			all = append(all, s.ToDType(m.ForcedLogits(s, b), tensor.F32).Float32s()...)
			all = append(all, float32(of.Item()))
			c := m.NewCache(m.Encode(s, b.Inputs), 2)
			defer c.Close()
			states := c.Step(s, []int32{2, 2})
			all = append(all, m.LogitsOf(s, states, m.Head()).Float32s()...)
			all = append(all, m.LogitsOf(s, states, m.HeadRows(s, 100, 9)).Float32s()...)
		})
		return all
	}
	want := of(tensor.CPU, tensor.F32)
	defer tensor.Emulate()()
	for compute, most := range map[tensor.DType]float64{tensor.F32: 1e-5, tensor.BF16: 0.03, tensor.F16: 4e-3} {
		got := of(tensor.CUDA(0), compute)
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); !(d <= most) {
				t.Fatalf("%s: number %d of %d is %g, want %g", compute, i, len(want), got[i], want[i])
			}
		}
	}
}

// TestOneOperationEach: on a card a product with its bias and a norm with its scale and shift are
// one operation each, and nothing is made that is there.
func TestOneOperationEach(t *testing.T) {
	defer tensor.Emulate()()
	c := small()
	c.EncoderLayers, c.DecoderLayers = 2, 3
	m, err := seq2seq.Init(c, 5, tensor.CUDA(0))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := seq2seq.Batch{Inputs: [][]int32{{5, 6, 7, 2}, {8, 2}}, Labels: [][]int32{{7, 2}, {8, 9, 2}}}
	for _, compute := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
		m.Compute = compute
		tensortest.Run(t, func(s *tensor.Scope) {
			step := func() { m.Gradients(s, m.Prepare(b), nil, seq2seq.Scale{}) }
			step()
			got := tensor.Count(step).Operators
			// Layers of the encoder and the decoder; embeddings; keys of all layers.
			for operator, want := range map[string]int64{"addmm": 4*2 + 6*3 + 1, "native_layer_norm": 2*2 + 3*3 + 2, "fill_": 1} {
				if got[operator] != want {
					t.Errorf("%s: %d of %s, want %d", compute, got[operator], operator, want)
				}
			}
		})
	}
}
