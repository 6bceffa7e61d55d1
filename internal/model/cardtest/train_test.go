//go:build linux

package cardtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/model/train/fit"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// toy is a T5 of 100 tokens, on dev.
func toy(t *testing.T, dev tensor.Device, compute tensor.DType, dropout float64) *fit.Seq2Seq {
	t.Helper()
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 100, 16, 8, 32, 2, 2, 2
	c.DropoutRate = dropout
	m := testkit.Value(seq2seq.Init(c, 5, dev))(t)
	t.Cleanup(m.Close)
	m.Compute = compute
	o := testkit.Value(optimizer.NewAdafactor(m.Params, optimizer.AdafactorDefaults()))(t)
	t.Cleanup(o.Close)
	return testkit.Value(fit.NewSeq2Seq(m, o, 9))(t)
}

// shelf keeps checkpoints in folders.
type shelf struct {
	folder string
	steps  []int64
}

func (s *shelf) Save(_ context.Context, step int64, folder string) error {
	s.steps = append(s.steps, step)
	return os.CopyFS(filepath.Join(s.folder, fmt.Sprint(step)), os.DirFS(folder))
}

func (s *shelf) Latest(_ context.Context, folder string, use func(int64) error) (bool, error) {
	if len(s.steps) == 0 {
		return false, nil
	}
	step := slices.Max(s.steps)
	if err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(filepath.Join(s.folder, fmt.Sprint(step))))); err != nil {
		return false, err
	}
	err := use(step)
	return err == nil, err
}

// trained fits l for so many steps of a task that documents of two tokens can be told by.
func trained(t *testing.T, l *fit.Seq2Seq, keep *shelf, steps int64) []float64 {
	t.Helper()
	d := &train.Data{}
	for i := range int32(30) {
		d.Indexing = append(d.Indexing, train.Example{Input: []int32{5, i + 10, 1}, Target: []int32{i + 10, 1}})
		d.Retrieval = append(d.Retrieval, train.Example{Input: []int32{i + 10, 1}, Target: []int32{i + 10, 7, 1}})
	}
	result, err := train.Train(context.Background(), train.Task{
		Config: train.Config{Steps: steps, Batch: 16, Seed: 3, Schedule: train.Schedule{Rate: 1e-2}, EvaluateEvery: 10, Select: "step"},
		Data:   d, Vocabulary: 100, Learner: l, Checkpoints: keep, Folder: t.TempDir(),
		Evaluate: func(_ context.Context, step int64) (map[string]float64, error) {
			return map[string]float64{"step": float64(step)}, nil
		},
	})
	testkit.None(t, err)
	return lists.Map(result.Curve.Points, func(p train.Point) float64 { return p.Loss })
}

// TestLoss: the loss without gradients, of the whole model on a batch of several lengths.
func TestLoss(t *testing.T) {
	b := seq2seq.Batch{Inputs: [][]int32{{5, 6, 7, 1}, {9, 1}, {4, 3, 2, 8, 11, 1}}, Labels: [][]int32{{3, 1}, {9, 8, 7, 1}, {1}}}
	want := testkit.Value(toy(t, tensor.CPU, tensor.F32, 0.1).Model.Loss(b))(t)
	for dtype, most := range map[tensor.DType]float64{tensor.F32: 1e-5, tensor.BF16: 1e-2, tensor.F16: 2e-3} {
		got := testkit.Value(toy(t, card, dtype, 0.1).Model.Loss(b))(t)
		near(t, "loss/"+dtype.String(), []float32{float32(got)}, []float32{float32(want)}, most)
	}
}

// TestTraining: a toy model learns on the card as on the CPU, in every type; in fp32 without dropout along the same losses.
func TestTraining(t *testing.T) {
	const steps = 60
	want := trained(t, toy(t, tensor.CPU, tensor.F32, 0), &shelf{folder: t.TempDir()}, steps)
	if last := want[len(want)-1]; last > want[0]/2 {
		t.Fatalf("the CPU's loss went from %.3f to %.3f", want[0], last)
	}
	for _, dtype := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
		t.Run(dtype.String(), func(t *testing.T) {
			got := trained(t, toy(t, card, dtype, 0), &shelf{folder: t.TempDir()}, steps)
			if dtype == tensor.F32 {
				near(t, "training/first losses", f32(got[:3]), f32(want[:3]), 1e-3)
			}
			near(t, "training/last loss/"+dtype.String(), f32(got[len(got)-1:]), f32(want[len(want)-1:]), 0.25)
		})
	}
	t.Run("dropout", func(t *testing.T) {
		cpu := trained(t, toy(t, tensor.CPU, tensor.F32, 0.1), &shelf{folder: t.TempDir()}, steps)
		got := trained(t, toy(t, card, tensor.F32, 0.1), &shelf{folder: t.TempDir()}, steps)
		near(t, "training/last loss/dropout", f32(got[len(got)-1:]), f32(cpu[len(cpu)-1:]), 0.3)
	})
}

func f32(v []float64) []float32 {
	return lists.Map(v, func(x float64) float32 { return float32(x) })
}

// TestResume: what a CPU began a card continues with, and what a card began a CPU; the losses are the same as on the CPU only.
func TestResume(t *testing.T) {
	want := trained(t, toy(t, tensor.CPU, tensor.F32, 0), &shelf{folder: t.TempDir()}, 40)
	for name, devices := range map[string][]tensor.Device{
		"cpu, card, cpu":  {tensor.CPU, card, tensor.CPU, card},
		"card, cpu, card": {card, tensor.CPU, card, tensor.CPU},
	} {
		keep := &shelf{folder: t.TempDir()}
		var got []float64
		for i, dev := range devices {
			got = trained(t, toy(t, dev, tensor.F32, 0), keep, int64(10*(i+1)))
		}
		near(t, "resume/"+name, f32(got), f32(want), 2e-2)
	}
}

// TestDeterminism: the same seed on the same card gives the same bytes, dropout included.
func TestDeterminism(t *testing.T) {
	for _, dtype := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
		var first []byte
		for range 2 {
			l := toy(t, card, dtype, 0.1)
			trained(t, l, &shelf{folder: t.TempDir()}, 20)
			var b bytes.Buffer
			testkit.None(t, errors.Join(l.Model.WriteWeights(&b), l.Optimizer.Write(&b)))
			if first == nil {
				first = b.Bytes()
			} else if !bytes.Equal(first, b.Bytes()) {
				t.Errorf("%v: two trainings by one seed differ", dtype)
			}
		}
	}
}
