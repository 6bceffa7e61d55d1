package fit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Toys are slower on several threads.
func init() { tensor.SetNumThreads(1) }

// toy is a small T5, with dropout.
func toy() t5.Config {
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 100, 16, 8, 32, 2, 2, 2
	return c
}

// learner fits a toy.
func learner(t *testing.T) *Seq2Seq { return learnerOf(t, 2) }

func learnerOf(t *testing.T, layers int64) *Seq2Seq {
	c := toy()
	c.NumLayers, c.NumDecoderLayers = layers, layers
	return learnerWith(t, c)
}

func learnerWith(t *testing.T, c seq2seq.Config) *Seq2Seq {
	return learnerOn(t, modelOn(t, c, tensor.CPU), tensor.F32)
}

// modelOn is a model drawn by seed 5, until the test ends.
func modelOn(t *testing.T, c seq2seq.Config, dev tensor.Device) *seq2seq.Model {
	t.Helper()
	m := testkit.Value(seq2seq.Init(c, 5, dev))(t)
	t.Cleanup(m.Close)
	return m
}

// learnerOn fits a model by seed 9, until the test ends.
func learnerOn(t *testing.T, m *seq2seq.Model, compute tensor.DType) *Seq2Seq {
	t.Helper()
	m.Compute = compute
	m.Changed()
	l := testkit.Value(NewSeq2Seq(m, testkit.Value(optimizer.NewAdafactor(m.Params, optimizer.AdafactorDefaults()))(t), 9))(t)
	t.Cleanup(l.Close)
	return l
}

// update makes one, and says what it came to.
func update(l *Seq2Seq, b *train.Batch, step int64, rate float64) (train.Loss, error) {
	if err := l.Step(context.Background(), b, step, rate); err != nil {
		return train.Loss{}, err
	}
	losses, err := l.Losses(true)
	if err != nil || len(losses) != 1 {
		return train.Loss{}, errors.Join(err, fmt.Errorf("%d losses of one update", len(losses)))
	}
	return losses[0], nil
}

func weights(t *testing.T, l *Seq2Seq) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.None(t, errors.Join(l.Model.WriteWeights(&b), l.Optimizer.Write(&b)))
	return b.Bytes()
}

func TestSeq2SeqDiverges(t *testing.T) {
	l := learner(t)
	k := t5Task(t, l, &shelf{folder: t.TempDir()})
	k.Schedule, k.CheckpointEvery = train.Schedule{Rate: 1e30}, 1
	var diverged *train.DivergedError
	if _, err := train.Train(context.Background(), k); !errors.As(err, &diverged) || diverged.Step != 1 || diverged.After == nil || !strings.Contains(err.Error(), "after step 1 parameter") {
		t.Errorf("error %v", err)
	}
}

// TestFP16NeedsACard: a CPU does not train in it.
func TestFP16NeedsACard(t *testing.T) {
	none := testkit.Value(optimizer.NewAdafactor(nil, optimizer.AdafactorDefaults()))(t)
	testkit.ErrSays(t, testkit.Err(NewSeq2Seq(&seq2seq.Model{Compute: tensor.F16}, none, 1)), "CUDA")
}

// leavesLossesOut: l leaves the update of one batch out, makes the next one, and gives up where overflow does
// not end; the newest checkpoint is of the step kept then.
func leavesLossesOut(t *testing.T, l *Seq2Seq, evaluate, save, kept int64) {
	huge := func(factor float64) {
		tensortest.Run(t, func(s *tensor.Scope) {
			tensor.NoGrad(func() { s.ScaleInPlace(l.Model.Param("encoder.block.0.layer.1.DenseReluDense.wo.weight"), factor) })
		})
		l.Model.Changed()
	}
	b := train.NewBatch(examples(30, 50), []train.Ref{{Index: 1}, {Indexing: true}})
	huge(1e20)
	before := weights(t, l)
	if loss, err := update(l, b, 0, 1e-3); err != nil || !loss.Left {
		t.Fatalf("%+v, %v", loss, err)
	}
	if l.Skipped() != 1 || l.scaler.Scale != 65536 || !bytes.Equal(weights(t, l), before) {
		t.Errorf("%d updates left out, factor %g", l.Skipped(), l.scaler.Scale)
	}
	huge(1e-20)
	if loss, err := update(l, b, 1, 1e-3); err != nil || loss.Left || !train.Finite(loss.Value) || l.inRow != 0 || bytes.Equal(weights(t, l), before) {
		t.Errorf("the next batch: loss %v, %v", loss, err)
	}
	huge(1e20)
	k := t5Task(t, l, &shelf{folder: t.TempDir()})
	k.Steps, k.EvaluateEvery, k.CheckpointEvery = 200, evaluate, save
	var diverged *train.DivergedError
	if _, err := train.Train(context.Background(), k); !errors.As(err, &diverged) || diverged.Step != mostInRow+1 || diverged.Kept != kept {
		t.Errorf("overflow without end: %v", err)
	}
}

// TestSeq2SeqSoak makes 1,000 updates, with a checkpoint every 100, in memory that does
// not grow.
func TestSeq2SeqSoak(t *testing.T) {
	k := t5Task(t, learnerOf(t, 1), &shelf{folder: t.TempDir()})
	k.Steps, k.Batch, k.EvaluateEvery, k.CheckpointEvery = 1_000, 2, 100, 100
	var live, bytes []int64
	k.Evaluate = func(context.Context, int64) (map[string]float64, error) {
		debug.FreeOSMemory() // what Go keeps for later is no leak
		live, bytes = append(live, tensor.Live()), append(bytes, resident(t))
		return map[string]float64{"MRR@10": 1}, nil
	}
	testkit.None(t, testkit.Err(train.Train(context.Background(), k)))
	if first, last := live[0], live[9]; first != last {
		t.Errorf("%d tensors after 100 updates, %d after 1,000", first, last)
	}
	// libtorch and malloc warm up in the first half; 3 kB an update are the most in the second.
	if half, last := bytes[4], bytes[9]; last > half+500*3<<10 {
		t.Errorf("%d bytes after 500 updates, %d after 1,000: %v", half, last, bytes)
	}
}

// resident is the memory of this process; 0 where the system does not say.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	var size, pages int64
	if _, scanErr := fmt.Sscan(string(text), &size, &pages); err != nil || scanErr != nil {
		t.Fatal(err, scanErr)
	}
	return pages * int64(os.Getpagesize())
}

// TestSeq2SeqMistakes: what is not a state of a learner is an *UnfitError, and changes nothing.
func TestSeq2SeqMistakes(t *testing.T) {
	folder, l := t.TempDir(), learner(t)
	b := train.NewBatch(examples(30, 50), []train.Ref{{Index: 1}, {Indexing: true}})
	testkit.None(t, testkit.Err(update(l, b, 0, 1e-2)))
	testkit.None(t, l.Save(folder))
	other := t.TempDir()
	testkit.None(t, learnerOf(t, 1).Save(other))
	into := learner(t)
	before := weights(t, into)
	for what, spoil := range map[string]func(file func(string) string) error{
		"half the weights":   func(f func(string) string) error { return halve(f("model.safetensors")) },
		"half the optimizer": func(f func(string) string) error { return halve(f(optimizerFile)) },
		"half the scaler":    func(f func(string) string) error { return halve(f(scalerFile)) },
		"no weights":         func(f func(string) string) error { return os.Remove(f("model.safetensors")) },
		"no optimizer":       func(f func(string) string) error { return os.Remove(f(optimizerFile)) },
		"no scaler":          func(f func(string) string) error { return os.Remove(f(scalerFile)) },
		"no configuration":   func(f func(string) string) error { return os.Remove(f("config.json")) },
		"a renamed parameter": func(f func(string) string) error {
			return replace(f("model.safetensors"), "decoder.final_layer_norm", "decoder.fin4l_layer_norm")
		},
		"a renamed moment": func(f func(string) string) error {
			return replace(f(optimizerFile), "decoder.final_layer_norm", "decoder.fin4l_layer_norm")
		},
		"another shape": func(f func(string) string) error {
			return replace(f("model.safetensors"), `"shape":[100,16]`, `"shape":[16,100]`)
		},
		"another scale": func(f func(string) string) error { return replace(f(scalerFile), `"scale":65536`, `"scale":-5536`) },
		"another configuration": func(f func(string) string) error {
			return replace(f("config.json"), `"num_heads": 2`, `"num_heads": 4`)
		},
		"another model": func(f func(string) string) error {
			return errors.Join(os.RemoveAll(f(".")), os.CopyFS(f("."), os.DirFS(other)))
		},
		"another model's parameters": func(f func(string) string) error {
			return copyFile(f("model.safetensors"), filepath.Join(other, "model.safetensors"))
		},
		"another model's optimizer": func(f func(string) string) error {
			return copyFile(f(optimizerFile), filepath.Join(other, optimizerFile))
		},
		"a parameter that is no number": func(f func(string) string) error {
			data, err := os.ReadFile(f("model.safetensors"))
			copy(data[len(data)-4:], "\xff\xff\xff\xff")
			return errors.Join(err, os.WriteFile(f("model.safetensors"), data, 0o644))
		},
	} {
		broken := filepath.Join(t.TempDir(), "c")
		testkit.None(t, os.CopyFS(broken, os.DirFS(folder)))
		testkit.None(t, spoil(func(name string) string { return filepath.Join(broken, name) }), what)
		if err := into.Load(broken); !errors.As(err, new(*train.UnfitError)) {
			t.Errorf("%s: %v", what, err)
		}
		if !bytes.Equal(weights(t, into), before) {
			t.Fatalf("%s: the learner was changed", what)
		}
	}
	if err := into.Load(folder); err != nil || !bytes.Equal(weights(t, into), weights(t, l)) {
		t.Errorf("the whole checkpoint: %v", err)
	}
	testkit.None(t, into.CheckModel(folder))
	if err := into.CheckModel(other); !errors.As(err, new(*train.UnfitError)) {
		t.Errorf("another model is the selected one: %v", err)
	}
}

func halve(path string) error {
	data, err := os.ReadFile(path)
	return errors.Join(err, os.WriteFile(path, data[:len(data)/2], 0o644))
}

// replace writes new for old everywhere; both are as long, so that a header's length
// stays right.
func replace(path, old, new string) error {
	data, err := os.ReadFile(path)
	if err == nil && (len(old) != len(new) || !bytes.Contains(data, []byte(old))) {
		err = fmt.Errorf("no %s to replace by %s", old, new)
	}
	return errors.Join(err, os.WriteFile(path, bytes.ReplaceAll(data, []byte(old), []byte(new)), 0o644))
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, data, 0o644))
}
