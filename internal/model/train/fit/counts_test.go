//go:build linux

package fit

import (
	"context"
	"reflect"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/testkit"
)

const stepCounts = "testdata/step_counts.json"

// shape is a T5 of so many layers and heads. It is narrow: how many operations there are does not
// depend on widths, except of operators that CUDA cuts into several launches.
func shape(layers, heads int64) t5.Config {
	c := t5.Defaults()
	c.VocabSize, c.DKV, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 200, 8, layers, layers, heads
	c.DModel, c.DFF = 8*heads, 16*heads
	return c
}

// tiny is google/t5-efficient-tiny's configuration, of its own widths.
func tiny() t5.Config {
	c := t5.Defaults()
	c.DModel, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 256, 1024, 4, 4, 4
	return c
}

// TestStepCounts: what a training step of Tiny, of the layers of Small and Base, and of a BART, with dropout
// and Adafactor, asks of a card. It takes one upload and waits for nothing.
func TestStepCounts(t *testing.T) {
	all := map[string]fakecard.Counts{}
	of := bart.Defaults()
	of.VocabSize, of.DModel, of.EncoderLayers, of.DecoderLayers, of.EncoderHeads, of.DecoderHeads, of.EncoderFFN, of.DecoderFFN = 211, 24, 2, 3, 3, 3, 32, 32
	for name, c := range map[string]seq2seq.Config{"tiny": tiny(), "small": shape(6, 8), "base": shape(12, 12), "bart": of} {
		m := modelOn(t, c, tensor.CUDA(0))
		for _, compute := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
			c := counted(t, learnerOn(t, m, compute), train.NewBatch(examples(30, 50), []train.Ref{{Index: 1}, {Indexing: true}, {Index: 7}, {Index: 9}}))
			if c.Uploads != 1 || c.Downloads != 0 || c.Syncs != 0 {
				t.Errorf("%s, %s: %d uploads, %d downloads, waiting %v", name, compute, c.Uploads, c.Downloads, c.Syncs)
			}
			c.Peak = 0
			all[name+" "+compute.String()] = c
		}
	}
	var want map[string]fakecard.Counts
	goldens.OfJSON(t, stepCounts, all, &want)
	for name, c := range all {
		if !reflect.DeepEqual(c, want[name]) {
			t.Errorf("%s asks for\n%+v\nnot\n%+v\n(go test ./internal/model/train/fit -run TestStepCounts -update)", name, c, want[name])
		}
	}
	testkit.Is(t, len(want), len(all), stepCounts)
}

// counted is what the second step of a learner asks of a card: the first one makes what stays.
func counted(t *testing.T, l *Seq2Seq, b *train.Batch) (c fakecard.Counts) {
	t.Helper()
	for step := range int64(2) {
		tensortest.Run(t, func(*tensor.Scope) {
			c = fakecard.Count(func() {
				testkit.None(t, l.Step(context.Background(), b, step, 1e-3))
			})
		})
	}
	return c
}
