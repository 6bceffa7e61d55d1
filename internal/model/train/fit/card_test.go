//go:build linux

package fit

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestMain(m *testing.M) { fakecard.Main(m) }

// learnerAt fits a model on a card.
func learnerAt(t *testing.T, c seq2seq.Config, compute tensor.DType) *Seq2Seq {
	return learnerOn(t, modelOn(t, c, tensor.CUDA(0)), compute)
}

// without turns dropout off: a card's masks are others.
func without(c t5.Config) t5.Config {
	c.DropoutRate = 0
	return c
}

// lossesFrom makes updates, and says what they came to.
func lossesFrom(t *testing.T, l *Seq2Seq, from, to int64) (all []train.Loss) {
	t.Helper()
	data := examples(30, 50)
	sampler := testkit.Value(train.NewSampler(data, train.Natural, 3, 8))(t)
	note := func(late bool) {
		losses := testkit.Value(l.Losses(late))(t)
		all = append(all, losses...)
	}
	for step := from; step < to; step++ {
		testkit.None(t, l.Step(context.Background(), train.NewBatch(data, sampler.Batch(step)), step, 1e-2))
		note(false)
	}
	note(true)
	if int64(len(all)) != to-from {
		t.Fatalf("%d losses of %d updates", len(all), to-from)
	}
	return all
}

// TestCardLeavesOut: on a card fp16's overflows cost the update, and are told later.
func TestCardLeavesOut(t *testing.T) {
	l := learnerAt(t, without(toy()), tensor.F16)
	leavesLossesOut(t, l, 200, 20, 40)
}

// TestCardDiverges: the step is the one whose loss is not finite, whenever that is told; from there
// on nothing was changed.
func TestCardDiverges(t *testing.T) {
	l := learnerAt(t, without(toy()), tensor.F32)
	k := t5Task(t, l, &shelf{folder: t.TempDir()})
	k.Steps, k.EvaluateEvery, k.CheckpointEvery = 100, 100, 10
	good := k.Learner
	k.Learner = breaking{good.(*Seq2Seq), 25}
	var diverged *train.DivergedError
	if _, err := train.Train(context.Background(), k); !errors.As(err, &diverged) || diverged.Step != 26 || diverged.Kept != 20 {
		t.Fatalf("%v", err)
	}
	testkit.Some(t, finiteModel(l.Model), "the parameter that was spoiled is finite")
}

// breaking spoils a parameter before a step.
type breaking struct {
	*Seq2Seq
	at int64
}

func (b breaking) Step(ctx context.Context, batch *train.Batch, step int64, rate float64) error {
	if step == b.at {
		if err := tensor.Run(func(s *tensor.Scope) {
			tensor.NoGrad(func() {
				s.FillInPlace(b.Model.Param("encoder.block.0.layer.1.DenseReluDense.wo.weight"), math.NaN())
			})
		}); err != nil {
			return err
		}
		b.Model.Changed()
	}
	return b.Seq2Seq.Step(ctx, batch, step, rate)
}

// TestCardIsNotWaitedFor: of 100 updates, with fp16's scale, clipping and two parts, each brings
// its indexes at once; the card is waited for once in 50.
func TestCardIsNotWaitedFor(t *testing.T) {
	small := toy() // what is asked of the card does not depend on the number of layers
	small.NumLayers, small.NumDecoderLayers = 1, 1
	l := learnerAt(t, small, tensor.F16)
	l.ClipNorm = 1
	lossesFrom(t, l, 0, 1)
	var c fakecard.Counts
	data := examples(30, 50)
	sampler := testkit.Value(train.NewSampler(data, train.Natural, 3, 8))(t)
	var told []int
	tensortest.Run(t, func(*tensor.Scope) {
		c = fakecard.Count(func() {
			for step := range int64(100) {
				err := l.Step(context.Background(), train.NewBatch(data, sampler.Batch(step)), step, 1e-3)
				losses, err2 := l.Losses(false)
				testkit.None(t, errors.Join(err, err2))
				if len(losses) > 0 {
					told = append(told, int(step))
				}
			}
		})
	})
	if c.Uploads != 100 || c.Downloads != 2 || c.Syncs != 0 || len(told) != 2 {
		t.Errorf("%d uploads, %d downloads after %v, waiting %v", c.Uploads, c.Downloads, told, c.Syncs)
	}
}

// TestCheckpointTakesLessMemory: a model whose blocks are computed again.
func TestCheckpointTakesLessMemory(t *testing.T) {
	c := toy()
	c.NumLayers, c.NumDecoderLayers, c.VocabSize = 6, 6, 100
	peak := func(checkpoint bool) fakecard.Counts {
		l := learnerAt(t, c, tensor.BF16)
		l.Model.Checkpoint = checkpoint
		b := &train.Batch{}
		for range 24 {
			in := make([]int32, 32)
			for i := range in {
				in[i] = int32(2 + i)
			}
			b.Inputs, b.Targets = append(b.Inputs, in), append(b.Targets, []int32{5, 6, 7, 8, 9, 10, 11, 1})
		}
		return counted(t, l, b)
	}
	kept, again := peak(false), peak(true)
	t.Logf("%d bytes at the most, %d where blocks are computed again; %d and %d launches", kept.Peak, again.Peak, kept.Launches, again.Launches)
	if again.Peak > kept.Peak*8/10 {
		t.Errorf("%d bytes at the most, %d where blocks are computed again", kept.Peak, again.Peak)
	}
	if again.Operators["mm"] <= kept.Operators["mm"] {
		t.Errorf("%d products, %d where blocks are computed again", kept.Operators["mm"], again.Operators["mm"])
	}
}

// TestCardFiles: the scale of the loss has its place in a checkpoint on a card too.
func TestCardFiles(t *testing.T) {
	l, folder := learnerAt(t, toy(), tensor.BF16), t.TempDir()
	lossesFrom(t, l, 0, 2)
	testkit.None(t, l.Save(folder))
	data, err := os.ReadFile(filepath.Join(folder, scalerFile))
	if want := `{"scale":65536,"good":0,"skipped":0,"in_row":0}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
}
