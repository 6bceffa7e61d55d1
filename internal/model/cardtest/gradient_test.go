//go:build linux

package cardtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestGradients: a card's gradients of a whole model are the CPU's, in every type, with layers that are kept and with layers that
// are computed again; on a CPU both are the same bytes, dropout's masks included. A card takes one upload and is not waited for.
func TestGradients(t *testing.T) {
	tied, of := t5.Defaults(), bart.Defaults()
	tied.VocabSize, tied.DModel, tied.DKV, tied.DFF, tied.NumLayers, tied.NumDecoderLayers, tied.NumHeads = 60, 24, 8, 32, 3, 3, 3
	of.VocabSize, of.DModel, of.EncoderLayers, of.DecoderLayers, of.EncoderHeads, of.DecoderHeads, of.EncoderFFN, of.DecoderFFN = 60, 24, 2, 2, 3, 3, 32, 32
	gated, own := tied, tied
	gated.FeedForward, gated.TieEmbeddings, own.ModelType = "gated-gelu", false, "umt5"
	configs := map[string]seq2seq.Config{"t5": tied, "t5 gated": gated, "umt5": own, "bart": of}
	draw := drawn.Numbers(3)
	b := seq2seq.Batch{Inputs: draw.Sequences(6, 1, 9), Labels: draw.Sequences(6, 1, 5)}
	for _, ids := range slices.Concat(b.Inputs, b.Labels) {
		for i := range ids {
			ids[i] %= 50
		}
	}
	b.Labels[2][0] = seq2seq.Ignore
	for name, config := range configs {
		compute := func(dev tensor.Device, dtype tensor.DType, again bool, rng *tensor.RNG) (loss float64, all [][]float32) {
			m := testkit.Value(seq2seq.Init(config, 5, dev))(t)
			defer m.Close()
			m.Compute, m.Checkpoint = dtype, again
			if err := tensor.Try(m.Refresh); err != nil { // what stays is there
				t.Fatal(err)
			}
			run(t, func(s *tensor.Scope) {
				step := func() (of *tensor.Tensor, grads []*tensor.Tensor) {
					return m.Gradients(s, m.Prepare(b), rng, seq2seq.Scale{})
				}
				if dev != tensor.CPU {
					if n := fakecard.Count(func() { step() }); *kind == "fake" && (n.Uploads != 1 || n.Downloads+n.Syncs != 0) {
						t.Errorf("%s, %s: %+v", name, dtype, n)
					}
				}
				of, grads := step()
				loss = of.Item()
				for _, g := range grads {
					all = append(all, g.Float32s())
				}
			})
			return loss, all
		}
		first, second := tensor.RNG{Seed: 3}, tensor.RNG{Seed: 3}
		_, kept := compute(tensor.CPU, tensor.F32, false, &first)
		_, again := compute(tensor.CPU, tensor.F32, true, &second)
		if !slices.EqualFunc(kept, again, slices.Equal) || first.Counter != second.Counter {
			t.Errorf("%s: layers that are computed again have other gradients", name)
		}
		loss, want := compute(tensor.CPU, tensor.F32, false, nil)
		for _, as := range []struct {
			dtype      tensor.DType
			loss, most float64
		}{{tensor.F32, 1e-5, 1e-5}, {tensor.BF16, 1e-2, 0.2}, {tensor.F16, 1e-3, 5e-2}} {
			for _, again := range []bool{false, true} {
				name := fmt.Sprintf("gradients/%s/%s/%v", name, as.dtype, again)
				of, got := compute(card, as.dtype, again, nil)
				near(t, name+"/loss", []float32{float32(of)}, []float32{float32(loss)}, as.loss)
				worst := 0.0
				for i := range want {
					d, whole := 0.0, 0.0 // single numbers differ where a relu has another sign
					for j, w := range want[i] {
						d, whole = d+math.Pow(float64(got[i][j]-w), 2), whole+float64(w)*float64(w)
					}
					// NOTE softmax takes no notice of the bias of keys: its gradient is rounding.
					worst = max(worst, math.Sqrt(d)/max(math.Sqrt(whole), 1e-3))
				}
				near(t, name, []float32{float32(1 + worst)}, []float32{1}, as.most)
			}
		}
	}
}
