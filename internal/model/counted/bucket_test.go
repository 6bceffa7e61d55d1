package counted

import (
	"math"
	"testing"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// TestBucketed: what times and memory are computed of is a batch as a training step has it on a card: as wide, and as
// long but for half of what it may grow by.
func TestBucketed(t *testing.T) {
	defer tensor.Emulate()()
	c := Config(Sizes()["tiny"])
	for name, b := range Batches() {
		p, err := seq2seq.PrepareStep(c, tensor.CUDA(0), seq2seq.Batch{Inputs: b.Inputs, Labels: b.Targets}, 0)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := seq2seq.Prepare(c, tensor.CUDA(0), seq2seq.Batch{Inputs: b.Inputs, Labels: b.Targets})
		if err != nil {
			t.Fatal(err)
		}
		is, was := p.Shapes(), plain.Shapes()
		batch := roofline.Batch{Examples: float64(was.Examples), InputTokens: float64(was.Inputs), LongestInput: float64(was.LongestInput),
			LabelTokens: float64(was.Labels), LongestLabel: float64(was.LongestLabel)}
		got := batch.Bucketed()
		if got.LongestInput != float64(is.LongestInput) || got.LongestLabel != float64(is.LongestLabel) {
			t.Errorf("%s: %+v is computed with, a step has %+v", name, got, is)
		}
		for what, pair := range map[string][2]float64{
			"examples": {got.Examples, float64(is.Examples)}, "inputs": {got.InputTokens, float64(is.Inputs)}, "labels": {got.LabelTokens, float64(is.Labels)},
		} {
			if off := math.Abs(pair[0]-pair[1]) / pair[1]; off > 0.06 {
				t.Errorf("%s, %s: %g are computed with, a step has %g", name, what, pair[0], pair[1])
			}
		}
	}
}
