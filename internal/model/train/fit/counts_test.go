package fit

import (
	"context"
	"reflect"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
)

const stepCounts = "testdata/step_counts.json"

// shape is a T5 of so many layers and heads. It is narrow: how many operations there are does not
// depend on widths, but for those that CUDA cuts into several launches.
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

// TestStepCounts: what a training step of Tiny, and of the layers of Small and Base, with dropout
// and Adafactor, asks of a card. It takes one upload and waits for nothing.
func TestStepCounts(t *testing.T) {
	defer tensor.Emulate()()
	all := map[string]tensor.Counts{}
	for name, c := range map[string]t5.Config{"tiny": tiny(), "small": shape(6, 8), "base": shape(12, 12)} {
		m := modelAt(t, c, tensor.CUDA(0))
		for _, compute := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
			c := counted(t, learnerOn(t, m, compute, "adafactor"))
			if c.Uploads != 1 || c.Downloads != 0 || len(c.Syncs) != 0 {
				t.Errorf("%s, %s: %d uploads, %d downloads, waiting %v", name, compute, c.Uploads, c.Downloads, c.Syncs)
			}
			c.Peak = 0 // a CPU's kernels take memory of their own, which depends on the processor
			all[name+" "+compute.String()] = c
		}
	}
	var want map[string]tensor.Counts
	goldens.OfJSON(t, stepCounts, all, &want)
	for name, c := range all {
		if !reflect.DeepEqual(c, want[name]) {
			t.Errorf("%s asks for\n%+v\nnot\n%+v\n(go test ./internal/model/train/fit -run TestStepCounts -update)", name, c, want[name])
		}
	}
	if len(want) != len(all) {
		t.Errorf("%d of %d kinds of steps are in %s", len(want), len(all), stepCounts)
	}
}

// counted is what the second step of a learner asks of a card: the first one makes what stays.
func counted(t *testing.T, l *Seq2Seq) (c tensor.Counts) {
	t.Helper()
	b := train.NewBatch(examples(30, 50), []train.Ref{{Index: 1}, {Indexing: true}, {Index: 7}, {Index: 9}})
	for step := range int64(2) {
		tensortest.Run(t, func(*tensor.Scope) {
			c = tensor.Count(func() {
				if err := l.Step(context.Background(), b, step, 1e-3); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
	return c
}
