//go:build linux

package cardtest

import (
	"testing"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestFilled: a batch that is filled up for a training step has the loss and the gradients of the batch.
func TestFilled(t *testing.T) {
	for name, config := range families(2) {
		for _, single := range []bool{false, true} {
			m := testkit.Value(seq2seq.Init(config, 5, card))(t)
			defer m.Close()
			b := lengths(3, 4, single)
			batch := seq2seq.Batch{Inputs: b.Inputs, Labels: b.Targets}
			gradients := func(prepare func() *seq2seq.Prepared) (mean, all []float32) {
				run(t, func(s *tensor.Scope) {
					loss, grads := m.Gradients(s, prepare(), nil, seq2seq.Scale{})
					mean = loss.Float32s()
					for _, g := range grads {
						all = append(all, g.Float32s()...)
					}
				})
				return mean, all
			}
			if err := tensor.Try(m.Refresh); err != nil { // what stays is there
				t.Fatal(err)
			}
			loss, want := gradients(func() *seq2seq.Prepared { return m.Prepare(batch) })
			gotLoss, got := gradients(func() *seq2seq.Prepared { return testkit.Value(seq2seq.PrepareStep(config, card, batch, 0))(t) })
			near(t, "filled/"+name+"/loss", gotLoss, loss, 1e-6)
			near(t, "filled/"+name+"/gradients", got, want, 1e-5)
		}
	}
}

// TestRecomputed: updates whose activations are recomputed equal updates that keep them: dropout draws the same.
func TestRecomputed(t *testing.T) {
	fit := func(recompute bool) []float64 {
		l := toy(t, card, tensor.F32, 0.1)
		defer l.Close()
		l.Model.Checkpoint, l.OneByOne = recompute, true
		return trained(t, l, &shelf{folder: t.TempDir()}, 30)
	}
	near(t, "recomputed/losses", f32(fit(true)), f32(fit(false)), 1e-4)
}
