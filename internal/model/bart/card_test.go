package bart

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

// TestGradientsOnACard: the very code of a card gives the CPU's gradients, and layers that are
// computed again give those of layers that are kept, on the CPU bit for bit.
func TestGradientsOnACard(t *testing.T) {
	c := Defaults()
	c.VocabSize, c.DModel, c.EncoderLayers, c.DecoderLayers, c.EncoderHeads, c.DecoderHeads, c.EncoderFFN, c.DecoderFFN = 60, 24, 2, 2, 3, 3, 32, 32
	gradients := func(device tensor.Device, compute tensor.DType, checkpoint bool, rng *tensor.RNG) (loss float64, all [][]float32, names []string) {
		t.Helper()
		m, err := seq2seq.Init(c, 5, device)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		m.Compute, m.Checkpoint = compute, checkpoint
		b := seq2seq.Batch{Inputs: [][]int32{{5, 6, 7, 2}, {8, 2}, {9, 10, 11, 12, 13, 2}}, Labels: [][]int32{{7, 2}, {8, 9, 2}, {10, 2}}}
		count := tensor.Counts{}
		tensortest.Run(t, func(s *tensor.Scope) {
			prepared := m.Prepare(b)
			count = tensor.Count(func() {
				of, grads := m.Gradients(s, prepared, rng, seq2seq.Scale{})
				loss = 0
				all = nil
				tensor.Free(of)
				for _, g := range grads {
					tensor.Free(g)
				}
			})
			of, grads := m.Gradients(s, prepared, rng, seq2seq.Scale{})
			loss = of.Item()
			for i, g := range grads {
				all, names = append(all, g.Float32s()), append(names, m.Params()[i].Name)
			}
		})
		if device.IsCUDA() && (count.Uploads != 1 || count.Downloads != 0 || len(count.Syncs) != 0) {
			t.Errorf("%s: %d uploads, %d downloads, waiting %v", compute, count.Uploads, count.Downloads, count.Syncs)
		}
		return loss, all, names
	}
	loss, want, names := gradients(tensor.CPU, tensor.F32, false, nil)
	_, random, _ := gradients(tensor.CPU, tensor.F32, false, &tensor.RNG{Seed: 3})
	_, again, _ := gradients(tensor.CPU, tensor.F32, true, &tensor.RNG{Seed: 3})
	for i := range random {
		if !slices.Equal(random[i], again[i]) {
			t.Errorf("%s differs where layers are computed again", names[i])
		}
	}
	norm := func(a, b []float32) (d, of float64) {
		for i := range a {
			x := float64(a[i]) - float64(b[i])
			d, of = d+x*x, of+float64(b[i])*float64(b[i])
		}
		return math.Sqrt(d), math.Sqrt(of)
	}
	defer tensor.Emulate()()
	for _, at := range []struct {
		compute tensor.DType
		loss    float64
		most    float64
	}{{tensor.F32, 1e-5, 1e-5}, {tensor.BF16, 1e-2, 0.1}, {tensor.F16, 1e-3, 0.05}} {
		for _, checkpoint := range []bool{false, true} {
			of, got, _ := gradients(tensor.CUDA(0), at.compute, checkpoint, nil)
			if math.Abs(of-loss) > at.loss*loss {
				t.Errorf("%s: loss %v, want %v", at.compute, of, loss)
			}
			for i := range want {
				// NOTE softmax takes no notice of the keys' bias: its gradient is rounding.
				if d, whole := norm(got[i], want[i]); d > at.most*max(whole, 1e-3) {
					t.Errorf("%s: %s differs by %g of %g", at.compute, names[i], d, whole)
				}
			}
		}
	}
}
