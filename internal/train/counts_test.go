//go:build !notorch

package train

import (
	"context"
	"testing"

	"github.com/redsi/redsi/internal/t5"
	"github.com/redsi/redsi/internal/tensor"
)

// shape is a T5 of so many layers and heads. It is narrow: how many operations there are does not
// depend on widths.
func shape(layers, heads int64) t5.Config {
	c := t5.Defaults()
	c.VocabSize, c.DKV, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 200, 8, layers, layers, heads
	c.DModel, c.DFF = 8*heads, 16*heads
	return c
}

// TestStepCounts: a training step of the layers of Tiny, Small and Base, with dropout and
// Adafactor, takes one upload, waits for nothing, and launches no more kernels than a few dozen
// for each layer.
func TestStepCounts(t *testing.T) {
	defer tensor.Emulate()()
	for name, at := range map[string]struct {
		c    t5.Config
		most int64
	}{"tiny": {shape(4, 4), 800}, "small": {shape(6, 8), 1000}, "base": {shape(12, 12), 1900}} {
		for _, compute := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
			c := counted(t, learnerAt(t, at.c, tensor.CUDA(0), compute, "adafactor"))
			t.Logf("%s, %s: %d launches", name, compute, c.Launches)
			if c.Uploads != 1 || c.Downloads != 0 || len(c.Syncs) != 0 {
				t.Errorf("%s, %s: %d uploads, %d downloads, waiting %v", name, compute, c.Uploads, c.Downloads, c.Syncs)
			}
			if c.Launches > at.most {
				t.Errorf("%s, %s: %d launches, more than %d: %v", name, compute, c.Launches, at.most, c.Operators)
			}
		}
	}
}

// counted is what the third step of a learner asks of a card: the first ones make what stays.
func counted(t *testing.T, l *Seq2Seq) (c tensor.Counts) {
	t.Helper()
	b := NewBatch(examples(30, 50), []Ref{{Index: 1}, {Indexing: true}, {Index: 7}, {Index: 9}})
	for step := range int64(3) {
		if err := tensor.Run(func(*tensor.Scope) {
			c = tensor.Count(func() {
				if err := l.Step(context.Background(), b, step, 1e-3); err != nil {
					t.Fatal(err)
				}
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
