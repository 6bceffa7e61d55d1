package t5

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

// shapes are small models: tied, of version 1.1, and with positions in every layer.
func shapes() map[string]Config {
	tied, gated, own := Defaults(), Defaults(), Defaults()
	for _, c := range []*Config{&tied, &gated, &own} {
		c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 60, 24, 8, 32, 3, 3, 3
	}
	gated.FeedForward, gated.TieEmbeddings = "gated-gelu", false
	own.ModelType = "umt5"
	return map[string]Config{"tied": tied, "gated": gated, "own positions": own}
}

func someBatch() seq2seq.Batch {
	draw := drawn.Numbers(3)
	b := seq2seq.Batch{Inputs: draw.Sequences(6, 1, 9), Labels: draw.Sequences(6, 1, 5)}
	for _, all := range [][][]int32{b.Inputs, b.Labels} {
		for _, ids := range all {
			for i := range ids {
				ids[i] %= 50
			}
		}
	}
	b.Labels[2][0] = seq2seq.Ignore
	return b
}

// gradients are those of a new model.
func gradientsOf(t *testing.T, c Config, set func(m *seq2seq.Model), rng *tensor.RNG, device tensor.Device) (loss float64, grads [][]float32, names []string) {
	t.Helper()
	m, err := seq2seq.Init(c, 5, device)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	set(m)
	tensortest.Run(t, func(s *tensor.Scope) {
		of, all := m.Gradients(s, m.Prepare(someBatch()), rng, seq2seq.Scale{})
		loss = of.Item()
		for i, g := range all {
			grads, names = append(grads, g.Float32s()), append(names, m.Params()[i].Name)
		}
	})
	return loss, grads, names
}

// norms are those of the difference and of what is wanted.
func norms(got, want []float32) (difference, whole float64) {
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		difference, whole = difference+d*d, whole+float64(want[i])*float64(want[i])
	}
	return math.Sqrt(difference), math.Sqrt(whole)
}

// TestCheckpointIsTheSame: gradients of blocks that are computed again are those of blocks
// that are kept, bit for bit, dropout's masks included.
func TestCheckpointIsTheSame(t *testing.T) {
	for name, c := range shapes() {
		for _, dropout := range []bool{false, true} {
			random := func() *tensor.RNG {
				if dropout {
					return &tensor.RNG{Seed: 9}
				}
				return nil
			}
			a, b := random(), random()
			loss, want, names := gradientsOf(t, c, func(*seq2seq.Model) {}, a, tensor.CPU)
			again, got, _ := gradientsOf(t, c, func(m *seq2seq.Model) { m.Checkpoint = true }, b, tensor.CPU)
			if loss != again {
				t.Errorf("%s: loss %v, %v", name, loss, again)
			}
			for i := range want {
				if !slices.Equal(want[i], got[i]) {
					t.Errorf("%s, dropout %v: %s differs", name, dropout, names[i])
				}
			}
			if dropout && a.Counter != b.Counter {
				t.Errorf("%s: %d random numbers drawn, %d with segments", name, a.Counter, b.Counter)
			}
		}
	}
}

// TestGradientsOnACard: the very code of a card gives the CPU's gradients.
func TestGradientsOnACard(t *testing.T) {
	for name, c := range shapes() {
		loss, want, names := gradientsOf(t, c, func(*seq2seq.Model) {}, nil, tensor.CPU)
		for _, at := range []struct {
			compute    tensor.DType
			checkpoint bool
			loss, most float64
		}{
			{tensor.F32, false, 1e-5, 1e-5}, {tensor.F32, true, 1e-5, 1e-5},
			{tensor.BF16, false, 1e-2, 0.2}, {tensor.BF16, true, 1e-2, 0.2},
			{tensor.F16, false, 1e-3, 5e-2}, {tensor.F16, true, 1e-3, 5e-2},
		} {
			func() {
				defer tensor.Emulate()()
				is, got, _ := gradientsOf(t, c, func(m *seq2seq.Model) { m.Compute, m.Checkpoint = at.compute, at.checkpoint }, nil, tensor.CUDA(0))
				if math.Abs(is-loss) > at.loss*loss {
					t.Errorf("%s %v: loss %v, want %v", name, at.compute, is, loss)
				}
				worst := 0.0
				for i := range want {
					d, largest := apart(t, names[i], got[i], want[i])
					if at.compute != tensor.F32 { // where a relu has another sign single numbers differ
						d, largest = norms(got[i], want[i])
					}
					worst = max(worst, d/largest)
					if d > at.most*largest {
						t.Errorf("%s %v: %s differs by %g of %g", name, at, names[i], d, largest)
					}
				}
				t.Logf("%s %v: %g apart", name, at, worst)
			}()
		}
	}
}
