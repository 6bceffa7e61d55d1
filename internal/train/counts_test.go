//go:build !notorch

package train

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/redsi/redsi/internal/t5"
	"github.com/redsi/redsi/internal/tensor"
)

var write = flag.Bool("update", false, "write testdata/step_counts.json")

// stepCounts are of one training step on a card.
type stepCounts struct {
	Launches  int64            `json:"launches"`
	Uploads   int64            `json:"uploads"`
	Downloads int64            `json:"downloads"`
	Syncs     map[string]int64 `json:"syncs"`
	Operators map[string]int64 `json:"operators"`
}

// shape is a T5 of so many layers and heads. It is narrow: how many operations there are does not
// depend on widths.
func shape(layers, heads int64) t5.Config {
	c := t5.Defaults()
	c.VocabSize, c.DKV, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 200, 8, layers, layers, heads
	c.DModel, c.DFF = 8*heads, 16*heads
	return c
}

// TestStepCounts: a training step of the layers of Tiny, Small and Base, with dropout and
// Adafactor, launches so many kernels on a card, takes one upload, and waits for nothing.
func TestStepCounts(t *testing.T) {
	const path = "testdata/step_counts.json"
	got, want := map[string]stepCounts{}, map[string]stepCounts{}
	func() {
		defer tensor.Emulate()()
		for name, c := range map[string]t5.Config{"tiny": shape(4, 4), "small": shape(6, 8), "base": shape(12, 12)} {
			for _, compute := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
				c := counted(t, learnerAt(t, c, tensor.CUDA(0), compute, "adafactor"))
				got[name+" "+compute.String()] = stepCounts{c.Launches, c.Uploads, c.Downloads, c.Syncs, c.Operators}
				if c.Uploads != 1 || c.Downloads != 0 || len(c.Syncs) != 0 {
					t.Errorf("%s, %s: %d uploads, %d downloads, waiting %v", name, compute, c.Uploads, c.Downloads, c.Syncs)
				}
			}
		}
	}()
	if *write {
		text, err := json.MarshalIndent(got, "", " ")
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range got {
		t.Logf("%s: %d launches", name, c.Launches)
		if !reflect.DeepEqual(c, want[name]) {
			t.Errorf("%s: %+v, want %+v; if it should be so, run the test with -update", name, c, want[name])
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
