//go:build linux

package cardtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/model/train/fit"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// families are toys of both, with so many layers on each side.
func families(layers int64) map[string]seq2seq.Config {
	t, b := t5.Defaults(), bart.Defaults()
	t.VocabSize, t.DModel, t.DKV, t.DFF, t.NumLayers, t.NumDecoderLayers, t.NumHeads = 100, 16, 8, 32, layers, layers, 2
	b.VocabSize, b.DModel, b.EncoderLayers, b.DecoderLayers, b.EncoderHeads, b.DecoderHeads, b.EncoderFFN, b.DecoderFFN = 100, 16, layers, layers, 2, 2, 32, 32
	return map[string]seq2seq.Config{"t5": t, "bart": b}
}

// lengths draws a batch of examples whose lengths vary, as in a training; single: labels are one token each. Batches of
// one shape have the same lengths, in other orders.
func lengths(shape, seed uint64, single bool) *train.Batch {
	b := &train.Batch{}
	random, tokens := rand.New(rand.NewPCG(1, shape)), rand.New(rand.NewPCG(2, seed))
	draw := func(n int) []int32 {
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = 10 + tokens.Int32N(80)
		}
		return append(ids, 1)
	}
	for range 24 {
		b.Inputs = append(b.Inputs, draw(1+random.IntN(11)))
		if b.Targets = append(b.Targets, draw(1+random.IntN(4))); single {
			b.Targets[len(b.Targets)-1] = []int32{10 + tokens.Int32N(80)}
		}
	}
	for _, side := range [][][]int32{b.Inputs, b.Targets} {
		tokens.Shuffle(len(side), func(i, j int) { side[i], side[j] = side[j], side[i] })
	}
	return b
}

// TestRecorded: updates that are recorded and replayed are those whose operations are asked for one by one, with dropout, with
// evaluations between them and after a checkpoint was read; most updates are replayed.
func TestRecorded(t *testing.T) {
	const steps = 31 // a step fewer are replayed nine times only
	for _, c := range []struct {
		family, optimizer string
		dtype             tensor.DType
		parts             int
		single            bool
	}{
		{"t5", "adafactor", tensor.F32, 1, false}, {"t5", "adafactor", tensor.BF16, 1, false}, {"t5", "adafactor", tensor.F16, 1, true},
		{"t5", "adafactor", tensor.F16, 2, false}, {"t5", "adamw", tensor.BF16, 2, false}, {"t5", "adamw", tensor.F32, 1, true},
		{"bart", "adamw", tensor.F16, 1, false}, {"bart", "adafactor", tensor.F32, 2, false},
	} {
		t.Run(fmt.Sprint(c.family, c.optimizer, c.dtype, c.parts, c.single), func(t *testing.T) {
			fitted := func(oneByOne bool) (losses []float32, params []float32, of fit.Recorded) {
				layers := int64(2)
				if c.dtype != tensor.F32 {
					layers = 1 // slow on a card of software
				}
				m := testkit.Value(seq2seq.Init(families(layers)[c.family], 5, card))(t)
				defer m.Close()
				m.Compute = c.dtype
				o := testkit.Value(makers[c.optimizer](m.Params))(t)
				defer o.Close()
				l := testkit.Value(fit.NewSeq2Seq(m, o, 9))(t)
				defer l.Close()
				l.OneByOne, l.Accumulate, l.ClipNorm = oneByOne, c.parts, 1
				folder := t.TempDir()
				for step := range int64(steps) {
					b := lengths(uint64(step)%5, uint64(step), c.single)
					testkit.None(t, l.Step(context.Background(), b, step, 1e-3/float64(1+step)))
					switch step {
					case 8, 24:
						testkit.None(t, testkit.Err(m.Loss(seq2seq.Batch{Inputs: b.Inputs, Labels: b.Targets})))
					case 12:
						testkit.None(t, l.Save(folder))
					case 15:
						all := testkit.Value(l.Losses(true))(t)
						losses = append(losses, values(all)...)
						testkit.None(t, l.Load(folder))
					}
				}
				all := testkit.Value(l.Losses(true))(t)
				of = l.Recorded()
				again := func(step int64) {
					testkit.None(t, l.Step(context.Background(), lengths(7, 7, c.single), step, 1e-3))
				}
				again(steps)
				again(steps + 1)
				if n := fakecard.Count(func() { again(steps + 2) }); *kind == "fake" && !oneByOne {
					calls := int64(1)
					if c.parts > 1 {
						calls = int64(c.parts) + 1
					}
					if n.Launches != 0 || n.Uploads != calls || n.Downloads+n.Syncs != 0 {
						t.Errorf("an update that is replayed: %+v", n)
					}
				}
				run(t, func(s *tensor.Scope) {
					for _, p := range m.Params {
						params = append(params, s.Detach(p.Tensor).Float32s()...)
					}
				})
				return append(losses, values(all)...), params, of
			}
			losses, params, of := fitted(false)
			wantLosses, want, single := fitted(true)
			if len(losses) != steps || of.Failed != nil || of.Graphs < 2 || of.Replays < 10 || single.Graphs+int(single.Replays) != 0 {
				t.Errorf("%d losses; recorded %+v, one by one %+v", len(losses), of, single)
			}
			if *kind == "fake" && (!slices.Equal(losses, wantLosses) || !slices.Equal(params, want)) {
				t.Error("losses and parameters are others")
			}
			near(t, fmt.Sprintf("recorded/%s/%s/%s/%d/losses", c.family, c.optimizer, c.dtype, c.parts), losses, wantLosses, 1e-3)
			near(t, fmt.Sprintf("recorded/%s/%s/%s/%d/parameters", c.family, c.optimizer, c.dtype, c.parts), params, want, 1e-3)
		})
	}
}

func values(all []train.Loss) []float32 {
	return lists.Map(all, func(l train.Loss) float32 { return float32(l.Value) })
}

// TestShared: trainings that share a card at the same time compute what each computes on a card of its own.
func TestShared(t *testing.T) {
	learners := map[int64]*fit.Seq2Seq{}
	var want, got [2][]float32
	fitted := func(seed int64) []float32 {
		for step := range int64(30) {
			if err := learners[seed].Step(context.Background(), lengths(uint64(step)%3, uint64(step+100*seed), true), step, 1e-3); err != nil {
				t.Error(err)
			}
		}
		all, err := learners[seed].Losses(true)
		testkit.None(t, err)
		return values(all)
	}
	fresh := func() {
		for seed := range int64(2) {
			learners[seed] = toy(t, card, tensor.F32, 0.1)
			t.Cleanup(learners[seed].Close)
			learners[seed].Seed = seed
		}
	}
	fresh()
	for seed := range want {
		want[seed] = fitted(int64(seed))
	}
	fresh()
	var all sync.WaitGroup
	for seed := range got {
		all.Go(func() { got[seed] = fitted(int64(seed)) })
	}
	all.Wait()
	for seed := range got {
		if learners[int64(seed)].Recorded().Graphs == 0 {
			t.Error("nothing was recorded")
		}
		near(t, fmt.Sprintf("shared/%d", seed), got[seed], want[seed], 1e-6)
	}
}

// waiting is an optimizer that waits for the card, which nothing that is recorded may.
type waiting struct{ optimizer.Optimizer }

func (w waiting) StepOn(grads []*tensor.Tensor, rate *tensor.Tensor, scaler *amp.Scaler) {
	rate.Float32s()
	w.Optimizer.StepOn(grads, rate, scaler)
}

// TestRecordingFails: a training whose updates can not be recorded goes on operation by operation, as if nobody had tried.
func TestRecordingFails(t *testing.T) {
	fitted := func(oneByOne bool) ([]float32, fit.Recorded) {
		l := toy(t, card, tensor.F16, 0.1)
		defer l.Close()
		l.OneByOne, l.Optimizer = oneByOne, waiting{l.Optimizer}
		for step := range int64(20) {
			testkit.None(t, l.Step(context.Background(), lengths(uint64(step)%3, uint64(step), true), step, 1e-3))
		}
		all := testkit.Value(l.Losses(true))(t)
		return values(all), l.Recorded()
	}
	got, of := fitted(false)
	want, _ := fitted(true)
	testkit.That(t, of.Failed != nil && of.Graphs == 0 && of.Replays == 0 && of.Single == 20, of)
	near(t, "recording fails/losses", got, want, 1e-6)
}
