//go:build linux

package fakecard_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/calls"
	"github.com/redsi/redsi/internal/system/testkit"
)

// efficientCall is one call of the kernel that only a card has: operands as shapes, strides and
// types, what the CPU's stand-in gives, and what libtorch's meta device gives.
type efficientCall struct {
	Operator string `json:"operator"`
	Takes    []any  `json:"takes"`
	Gives    []any  `json:"gives"`
	Card     []any  `json:"card,omitempty"`
}

// TestEfficientCalls: the calls of libtorch's memory-efficient kernel are those that its meta
// device took, and what stands in for it gives tensors of the same shapes, strides and types.
// Every operand lies as the kernel reads it: 16 bytes at a time. With REDSI_UPDATE=1 it writes the
// calls, which tools/golden/efficient.py completes.
func TestEfficientCalls(t *testing.T) {
	const path = "testdata/efficient.json"
	var want []efficientCall
	update := os.Getenv("REDSI_UPDATE") != ""
	if !update {
		goldens.JSON(t, path, &want)
	}
	var got []efficientCall
	run(t, func(s *tensor.Scope) {
		const heads, d = 6, 64 // Small has 8, Tiny 4, Base 12 of 64
		card, rng := tensor.CUDA(0), &tensor.RNG{Seed: 2}
		leaf := func(dtype tensor.DType, shape ...int64) *tensor.Tensor {
			x := s.ToDevice(s.ToDType(s.Normal(rng, 0, 1, shape...), dtype), card)
			s.Leaf(x)
			return x
		}
		padding := func(lens []int64) (p *tensor.Padding, rows int64) {
			var start []int64
			for _, n := range lens {
				start = append(start, rows)
				rows += n
			}
			return s.NewPadding(start, lens, rows, 0, s.Upload(card, tensor.PaddingIndexes(start, lens, rows, 0))[0]), rows
		}
		attend := func(q, bias, kv *tensor.Tensor, l *tensor.Layout, o tensor.AttentionOptions) *tensor.Tensor {
			const wide = heads * d
			if kv == nil { // all three as one product makes them
				parts := s.Split(q, 1, wide, wide, wide)
				return s.PackedAttention(parts[0], parts[1], parts[2], bias, tensor.Spans{Layout: l}, o)
			}
			parts := s.Split(kv, 1, wide, wide)
			return s.PackedAttention(q, parts[0], parts[1], bias, tensor.Spans{Layout: l}, o)
		}
		for _, dtype := range []tensor.DType{tensor.F16, tensor.BF16} {
			for _, lens := range [][]int64{{21, 1, 7}, {16, 16}, {1}} {
				in, inRows := padding(lens)
				out, outRows := padding([]int64{3, 40, 2}[:len(lens)])
				o := tensor.AttentionOptions{Heads: heads, Scale: 1, Dropout: 0.1, RNG: rng}
				bias := leaf(tensor.F32, heads, 40, 40)
				qkv, q, kv := leaf(dtype, inRows, 3*heads*d), leaf(dtype, outRows, heads*d), leaf(dtype, inRows, 2*heads*d)
				text := calls.Of("aten::_efficient_attention_", func() {
					self := attend(qkv, bias, nil, tensor.NewLayout(in, in), o)
					s.Gradients(s.Sum(self), []*tensor.Tensor{qkv, bias})
					cross := attend(q, nil, kv, tensor.NewLayout(out, in), o)
					s.Gradients(s.Sum(cross), []*tensor.Tensor{q, kv})
					o.Causal = true
					causal := attend(qkv, nil, nil, tensor.NewLayout(in, in), o)
					s.Gradients(s.Sum(causal), []*tensor.Tensor{qkv})
					tensor.NoGrad(func() { // one token of beams that share keys
						n, l := int64(len(lens)), slices.Max(lens)
						o.Causal, o.Dropout = false, 0
						s.BatchAttention(leaf(dtype, n, 5, heads*d), leaf(dtype, n, l, heads*d), leaf(dtype, n, l, heads*d), s.Zeros(dtype, card, n, 1, 1, l), o)
					})
				})
				var some []efficientCall
				testkit.None(t, json.Unmarshal([]byte(text), &some))
				got = append(got, some...)
			}
		}
	})
	if update {
		text, err := json.Marshal(got)
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o644)
		}
		testkit.None(t, err)
		return
	}
	if len(got) != len(want) || len(got) != 2*3*7 {
		t.Fatalf("%d calls, want %d", len(got), len(want))
	}
	for i, c := range got {
		if c.Operator != want[i].Operator || !reflect.DeepEqual(c.Takes, want[i].Takes) {
			t.Errorf("call %d: %s takes\n%v, want\n%v", i, c.Operator, c.Takes, want[i].Takes)
		}
		if !sameTensors(c.Gives, want[i].Card) {
			t.Errorf("call %d: %s gives\n%v, a card's gives\n%v", i, c.Operator, c.Gives, want[i].Card)
		}
		for j, operand := range c.Takes {
			x, ok := operand.(map[string]any)
			if !ok || (x["type"] != "Half" && x["type"] != "BFloat16") {
				continue
			}
			shape, strides := x["shape"].([]any), x["strides"].([]any)
			for k, stride := range strides {
				if size := shape[k].(float64); k == len(strides)-1 && stride != 1.0 || k < len(strides)-1 && size > 1 && int(stride.(float64))%8 != 0 {
					t.Errorf("call %d: %s's operand %d lies badly: %v", i, c.Operator, j, x)
				}
			}
		}
	}
}

// sameTensors compares shapes, types and strides of dimensions that are not single.
func sameTensors(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, ok := a[i].(map[string]any)
		y, also := b[i].(map[string]any)
		if ok != also {
			return false
		}
		if !ok {
			if !reflect.DeepEqual(a[i], b[i]) {
				return false
			}
			continue
		}
		if x["type"] != y["type"] || !reflect.DeepEqual(x["shape"], y["shape"]) {
			return false
		}
		for k, size := range x["shape"].([]any) {
			if size.(float64) > 1 && x["strides"].([]any)[k] != y["strides"].([]any)[k] {
				return false
			}
		}
	}
	return true
}
