package fit

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/adamw"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
)

// toy is a small T5.
func toy() t5.Config {
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 100, 16, 8, 32, 2, 2, 2
	return c
}

// learnerAt fits a model on a device, with an optimizer of that name, until the test ends.
func learnerAt(t *testing.T, c seq2seq.Config, device tensor.Device, compute tensor.DType, optimizer string) *Seq2Seq {
	t.Helper()
	return learnerOn(t, modelAt(t, c, device), compute, optimizer)
}

// modelAt draws a model on a device.
func modelAt(t *testing.T, c seq2seq.Config, device tensor.Device) *seq2seq.Model {
	t.Helper()
	tensor.SetNumThreads(1)
	m, err := seq2seq.Init(c, 5, device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// learnerOn is learnerAt of a model that is there.
func learnerOn(t *testing.T, m *seq2seq.Model, compute tensor.DType, optimizer string) *Seq2Seq {
	t.Helper()
	m.Compute = compute
	m.Changed()
	var o Optimizer
	var err error
	if optimizer == "adamw" {
		o, err = adamw.New(m.Params(), adamw.Options{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01})
	} else {
		o, err = adafactor.New(m.Params(), adafactor.Defaults())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	l, err := NewSeq2Seq(m, o, 9)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
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
	sampler, err := train.NewSampler(data, train.Natural, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	rate := 1e-2
	if _, ok := l.Optimizer.(*adamw.Optimizer); ok {
		rate = 1e-3 // its first updates are as large as the rate, whatever the gradients
	}
	note := func(late bool) {
		losses, err := l.Losses(late)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, losses...)
	}
	for step := from; step < to; step++ {
		if err := l.Step(context.Background(), train.NewBatch(data, sampler.Batch(step)), step, rate); err != nil {
			t.Fatal(err)
		}
		note(false)
	}
	note(true)
	if int64(len(all)) != to-from {
		t.Fatalf("%d losses of %d updates", len(all), to-from)
	}
	return all
}

// far is the largest difference of two runs' losses.
func far(a, b []train.Loss) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i].Value-b[i].Value))
	}
	return most
}

// TestCardTrains: 50 updates by what a card computes come to what the CPU's come to.
func TestCardTrains(t *testing.T) {
	const steps = 50
	type way struct {
		compute tensor.DType
		close   float64 // losses of the first 20 updates
		end     float64 // of the mean of the last 10
	}
	for optimizer, ways := range map[string][]way{
		"adafactor": {{tensor.F32, 1e-3, 0.02}, {tensor.BF16, 0.02, 0.1}, {tensor.F16, 0.01, 0.1}},
		"adamw":     {{tensor.F32, 1e-3, 0.02}},
	} {
		set := func(l *Seq2Seq) *Seq2Seq {
			l.ClipNorm, l.Accumulate = 1, 2
			return l
		}
		want := lossesFrom(t, set(learnerAt(t, without(toy()), tensor.CPU, tensor.F32, optimizer)), 0, steps)
		for _, at := range ways {
			func() {
				defer tensor.Emulate()()
				l := set(learnerAt(t, without(toy()), tensor.CUDA(0), at.compute, optimizer))
				l.Model.Checkpoint = at.compute == tensor.BF16
				got := lossesFrom(t, l, 0, steps)
				mean := func(all []train.Loss) (sum float64) {
					for _, l := range all[steps-10:] {
						sum += l.Value / 10
					}
					return sum
				}
				t.Logf("%s, %v: the first losses differ by %g; %.4f to %.4f, on the CPU %.4f to %.4f",
					optimizer, at.compute, far(got[:20], want[:20]), got[0].Value, mean(got), want[0].Value, mean(want))
				if d := far(got[:20], want[:20]); d > at.close {
					t.Errorf("%s, %v: the first losses differ by %g", optimizer, at.compute, d)
				}
				if math.Abs(mean(got)-mean(want)) > at.end || mean(got) > got[0].Value-0.3 {
					t.Errorf("%s, %v: the last losses are %g, want %g", optimizer, at.compute, mean(got), mean(want))
				}
			}()
		}
	}
}

// TestCardDropout: masks differ from the CPU's, and what they do does not.
func TestCardDropout(t *testing.T) {
	const steps, last, same = 160, 50, 30
	want := lossesFrom(t, learnerAt(t, toy(), tensor.CPU, tensor.F32, ""), 0, steps)
	defer tensor.Emulate()()
	got := lossesFrom(t, learnerAt(t, toy(), tensor.CUDA(0), tensor.F32, ""), 0, steps)
	again := lossesFrom(t, learnerAt(t, toy(), tensor.CUDA(0), tensor.F32, ""), 0, same)
	var a, b float64
	for i := steps - last; i < steps; i++ {
		a, b = a+got[i].Value/last, b+want[i].Value/last
	}
	if d := far(got, want); d == 0 || math.Abs(a-b) > 0.1 {
		t.Errorf("losses %g apart, the last of them %g and %g", d, a, b)
	}
	if d := far(got[:same], again); d != 0 {
		t.Errorf("the same seed, %g apart", d)
	}
}

// TestCardResumes: a checkpoint of one device is the other's.
func TestCardResumes(t *testing.T) {
	for _, optimizer := range []string{"adafactor", "adamw"} {
		cpu := func() *Seq2Seq { return learnerAt(t, without(toy()), tensor.CPU, tensor.F32, optimizer) }
		card := func() *Seq2Seq { return learnerAt(t, without(toy()), tensor.CUDA(0), tensor.F32, optimizer) }
		onCard := func(f func()) { defer tensor.Emulate()(); f() }
		both := map[string]string{"cpu": t.TempDir(), "card": t.TempDir()}
		var want, fromCPU, fromCard []train.Loss
		first := cpu()
		lossesFrom(t, first, 0, 30)
		if err := first.Save(both["cpu"]); err != nil {
			t.Fatal(err)
		}
		want = lossesFrom(t, first, 30, 60)
		onCard(func() {
			l := card()
			lossesFrom(t, l, 0, 30)
			if err := l.Save(both["card"]); err != nil {
				t.Fatal(err)
			}
			if l = card(); true {
				lossesFrom(t, l, 0, 3) // of which nothing is left
				if err := l.Load(both["cpu"]); err != nil {
					t.Fatal(err)
				}
			}
			fromCPU = lossesFrom(t, l, 30, 60)
		})
		l := cpu()
		if err := l.Load(both["card"]); err != nil {
			t.Fatal(err)
		}
		fromCard = lossesFrom(t, l, 30, 60)
		if a, b := far(fromCPU, want), far(fromCard, want); a > 1e-3 || b > 1e-3 {
			t.Errorf("%s: resumed on a card losses differ by %g, resumed on the CPU by %g", optimizer, a, b)
		}
		sizes := func(folder string) map[string]int64 {
			files, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			all := map[string]int64{}
			for _, f := range files {
				if info, err := f.Info(); err == nil && f.Name() != scalerFile {
					all[f.Name()] = info.Size()
				}
			}
			return all
		}
		if a, b := sizes(both["cpu"]), sizes(both["card"]); !maps.Equal(a, b) || a[optimizerFile] == 0 {
			t.Errorf("%s: the files differ: %v, %v", optimizer, a, b)
		}
	}
}

// TestCardLeavesOut: on a card fp16's overflows cost the update, and are told later.
func TestCardLeavesOut(t *testing.T) {
	defer tensor.Emulate()()
	l := learnerAt(t, without(toy()), tensor.CUDA(0), tensor.F16, "")
	leavesLossesOut(t, l, 200, 20, 40)
}

// TestCardDiverges: the step is the one whose loss is not finite, whenever that is told; from there
// on nothing was changed.
func TestCardDiverges(t *testing.T) {
	defer tensor.Emulate()()
	l := learnerAt(t, without(toy()), tensor.CUDA(0), tensor.F32, "")
	k := t5Task(t, l, &shelf{folder: t.TempDir()})
	k.Steps, k.EvaluateEvery, k.CheckpointEvery = 100, 100, 10
	good := k.Learner
	k.Learner = breaking{good.(*Seq2Seq), 25}
	var diverged *train.DivergedError
	if _, err := train.Train(context.Background(), k); !errors.As(err, &diverged) || diverged.Step != 26 || diverged.Kept != 20 {
		t.Fatalf("%v", err)
	}
	if err := finiteModel(l.Model); err == nil {
		t.Error("the parameter that was spoiled is finite")
	}
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
	defer tensor.Emulate()()
	small := toy() // what is asked of the card does not depend on the number of layers
	small.NumLayers, small.NumDecoderLayers = 1, 1
	l := learnerAt(t, small, tensor.CUDA(0), tensor.F16, "")
	l.ClipNorm = 1
	lossesFrom(t, l, 0, 1)
	var c tensor.Counts
	data := examples(30, 50)
	sampler, err := train.NewSampler(data, train.Natural, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	var told []int
	tensortest.Run(t, func(*tensor.Scope) {
		c = tensor.Count(func() {
			for step := range int64(100) {
				err := l.Step(context.Background(), train.NewBatch(data, sampler.Batch(step)), step, 1e-3)
				losses, err2 := l.Losses(false)
				if err := errors.Join(err, err2); err != nil {
					t.Fatal(err)
				}
				if len(losses) > 0 {
					told = append(told, int(step))
				}
			}
		})
	})
	if c.Uploads != 100 || c.Downloads != 2 || len(c.Syncs) != 0 || len(told) != 2 {
		t.Errorf("%d uploads, %d downloads after %v, waiting %v", c.Uploads, c.Downloads, told, c.Syncs)
	}
}

// TestCheckpointTakesLessMemory: a model whose blocks are computed again.
func TestCheckpointTakesLessMemory(t *testing.T) {
	defer tensor.Emulate()()
	c := toy()
	c.NumLayers, c.NumDecoderLayers, c.VocabSize = 6, 6, 100
	peak := func(checkpoint bool) (c2 tensor.Counts) {
		l := learnerAt(t, c, tensor.CUDA(0), tensor.BF16, "")
		l.Model.Checkpoint = checkpoint
		b := &train.Batch{}
		for range 24 {
			in := make([]int32, 32)
			for i := range in {
				in[i] = int32(2 + i)
			}
			b.Inputs, b.Targets = append(b.Inputs, in), append(b.Targets, []int32{5, 6, 7, 8, 9, 10, 11, 1})
		}
		for step := range int64(2) { // the first makes what later ones have
			tensortest.Run(t, func(*tensor.Scope) {
				c2 = tensor.Count(func() {
					if err := l.Step(context.Background(), b, step, 1e-3); err != nil {
						t.Fatal(err)
					}
				})
			})
		}
		return c2
	}
	kept, again := peak(false), peak(true)
	t.Logf("%d bytes at the most, %d where blocks are computed again; %d and %d launches", kept.Peak, again.Peak, kept.Launches, again.Launches)
	if again.Peak > kept.Peak*8/10 {
		t.Errorf("%d bytes at the most, %d where blocks are computed again", kept.Peak, again.Peak)
	}
	if again.Flops <= kept.Flops {
		t.Errorf("%d flops, %d where blocks are computed again", kept.Flops, again.Flops)
	}
}

// TestCardFiles: the scale of the loss has its place in a checkpoint on a card too.
func TestCardFiles(t *testing.T) {
	defer tensor.Emulate()()
	l, folder := learnerAt(t, toy(), tensor.CUDA(0), tensor.BF16, ""), t.TempDir()
	lossesFrom(t, l, 0, 2)
	if err := l.Save(folder); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, scalerFile))
	if want := `{"scale":65536,"good":0,"skipped":0,"in_row":0}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
}
