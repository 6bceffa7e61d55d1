package fit

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/testkit"
)

// oracle is what torch and transformers computed (tools/golden/train.py).
type oracle struct {
	Steps, Warmup           int64
	Rate, Beta1, Beta2, Eps float64
	ClipNorm                float64 `json:"clip_norm"`
	Smoothing               float64 `json:"label_smoothing"`
	WeightDecay             float64 `json:"weight_decay"`
	Parts                   int
	Batches                 []struct{ Inputs, Labels [][]int32 }
	Runs                    map[string]struct{ Rates, Losses, Norms []float64 }
	Parameters, Decays      []string
}

const trajectory = "testdata/trajectory"

func readOracle(t *testing.T) (o oracle) {
	t.Helper()
	goldens.JSON(t, filepath.Join(trajectory, "golden.json"), &o)
	return o
}

// learner begins where the oracle does.
func (o oracle) learner(t *testing.T) *Seq2Seq {
	t.Helper()
	m := testkit.Value(models.Load(filepath.Join(trajectory, "start"), tensor.CPU))(t)
	t.Cleanup(m.Close)
	m.Smoothing = o.Smoothing
	a := testkit.Value(optimizer.NewAdamW(m.Params, optimizer.AdamWOptions{Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Eps, WeightDecay: o.WeightDecay}))(t)
	l := testkit.Value(NewSeq2Seq(m, a, 1))(t)
	t.Cleanup(l.Close)
	l.ClipNorm, l.Accumulate = o.ClipNorm, o.Parts
	return l
}

func (o oracle) batch(i int64) *train.Batch {
	return &train.Batch{Inputs: o.Batches[i].Inputs, Targets: o.Batches[i].Labels}
}

// TestTrajectoryIsTransformers: 20 updates of each schedule with AdamW, clipping,
// smoothing and accumulation, in as many parts as the oracle's and in one.
func TestTrajectoryIsTransformers(t *testing.T) {
	o := readOracle(t)
	for name, run := range o.Runs {
		for _, parts := range []int{o.Parts, 1} {
			l := o.learner(t)
			l.Accumulate = parts
			s := train.Schedule{Rate: o.Rate, Warmup: o.Warmup, Form: name, Steps: o.Steps}
			worst := 0.0
			differ := func(a, b float64) { worst = max(worst, math.Abs(a-b)) }
			for i := range o.Steps {
				rate := s.At(i)
				if math.Abs(rate-run.Rates[i]) > 1e-12 {
					t.Fatalf("%s: the rate of step %d is %v, want %v", name, i, rate, run.Rates[i])
				}
				loss := testkit.Value(update(l, o.batch(i), i, rate))(t)
				differ(loss.Value, run.Losses[i])
			}
			o.compare(t, name, l.Model, differ)
			if !(worst <= 1e-5) {
				t.Errorf("%s in %d parts: a difference of %g", name, parts, worst)
			}
			t.Logf("%s in %d parts: the largest difference is %g", name, parts, worst)
		}
	}
}

// compare looks at all parameters after the last update.
func (o oracle) compare(t *testing.T, name string, m *seq2seq.Model, differ func(a, b float64)) {
	t.Helper()
	data := goldens.Text(t, filepath.Join(trajectory, name+".safetensors"))
	f := testkit.Value(checkpoint.Open(bytes.NewReader(data), int64(len(data))))(t)
	tensortest.Run(t, func(s *tensor.Scope) {
		for _, p := range m.Params {
			want := testkit.Value(f.Tensor(s, p.Name, tensor.F32, tensor.CPU, p.Tensor.Shape()...))(t)
			is := want.Float32s()
			for i, v := range p.Tensor.Float32s() {
				differ(float64(v), float64(is[i]))
			}
		}
	})
}

// TestDecays: as transformers' Trainer has it.
func TestDecays(t *testing.T) {
	o := readOracle(t)
	for _, name := range o.Parameters {
		if want := slices.Contains(o.Decays, name); optimizer.Decays(name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
	for _, name := range []string{"model.encoder.layers.0.self_attn.k_proj.bias", "model.encoder.layernorm_embedding.weight", "model.decoder.layers.1.final_layer_norm.weight"} {
		if optimizer.Decays(name) {
			t.Errorf("%s decays", name)
		}
	}
}

// TestClippingIsTorch: the norm that is clipped is torch's.
func TestClippingIsTorch(t *testing.T) {
	o := readOracle(t)
	l := o.learner(t)
	tensortest.Run(t, func(s *tensor.Scope) {
		b := o.batch(0)
		testkit.None(t, l.Prepare(b))
		_, grads := l.gradients(s, b.Prepared.([]part), nil)
		norm := func() float64 {
			square := 0.0
			for _, g := range grads {
				square += s.SquareSum(g)
			}
			return math.Sqrt(square)
		}
		want := o.Runs[train.Constant].Norms[0]
		if got := norm(); math.Abs(got-want) > 1e-5*want {
			t.Errorf("norm %v, want %v", got, want)
		}
		l.ClipNorm = 2 * want
		if l.clip(s, grads); math.Abs(norm()-want) > 1e-5*want {
			t.Errorf("a norm below the bound was changed to %v", norm())
		}
		l.ClipNorm = o.ClipNorm
		if l.clip(s, grads); math.Abs(norm()-o.ClipNorm) > 1e-5 {
			t.Errorf("clipped to %v, want %v", norm(), o.ClipNorm)
		}
	})
}

// killing is a learner whose process dies after a step.
type killing struct {
	*Seq2Seq
	at int64
}

var errKilled = errors.New("killed")

func (k killing) Step(ctx context.Context, b *train.Batch, step int64, rate float64) error {
	if step == k.at {
		return errKilled
	}
	return k.Seq2Seq.Step(ctx, b, step, rate)
}

// TestResumes: with Adafactor, or with AdamW, parts, clipping, smoothing, dropout, a schedule and patience, a training that
// was killed after some steps and went on in another process is the one that was not: parameters, optimizer state, curve and
// selected model, bit for bit.
func TestResumes(t *testing.T) {
	for _, form := range []string{"", train.Linear, train.Cosine, train.InverseSqrt} {
		begin := func() *Seq2Seq {
			if form == "" {
				return learner(t)
			}
			l := learnerOf(t, 1)
			l.Model.Smoothing, l.Accumulate, l.ClipNorm = 0.1, 3, 1
			l.Optimizer.Close()
			l.Optimizer = testkit.Value(optimizer.NewAdamW(l.Model.Params, optimizer.AdamWOptions{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1}))(t)
			return l
		}
		steps, keep := int64(40), &shelf{folder: t.TempDir()}
		task := func(l train.Learner) train.Task {
			k := t5Task(t, l, keep)
			if form != "" {
				steps, k.Schedule.Form, k.Schedule.Steps, k.Patience = 35, form, k.Steps, 2
			}
			return k
		}
		finish := func(l *Seq2Seq) (*train.Outcome, []byte) {
			out := testkit.Value(train.Train(context.Background(), task(l)))(t)
			all := append(weights(t, l), history(out.Curve)...)
			for _, file := range []string{"model.safetensors", "config.json"} {
				all = append(all, goldens.Text(t, filepath.Join(out.Model, file))...)
			}
			return out, all
		}
		out, want := finish(begin())
		testkit.Is(t, out.Steps, steps, form, out.Curve.Stopped)
		testkit.Is(t, (out.Curve.Stopped == ""), steps == 40, form, out.Curve.Stopped)
		if first, last := out.Curve.Points[0].Loss, out.Curve.Points[len(out.Curve.Points)-1].Loss; form == "" && last > first-0.3 {
			t.Errorf("the loss went from %.3f to %.3f", first, last)
		}
		for _, kill := range []int64{27, 34} {
			keep = &shelf{folder: t.TempDir()}
			if err := testkit.Err(train.Train(context.Background(), task(killing{begin(), kill}))); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			if out, got := finish(begin()); out.From != 20 || !bytes.Equal(got, want) {
				t.Errorf("%s, killed at %d and resumed at %d: parameters, optimizer, curve or model differ", form, kill, out.From)
			}
		}
		keep = &shelf{folder: t.TempDir()}
		if _, plain := finish(learnerOf(t, 1)); bytes.Equal(plain, want) {
			t.Errorf("%s: without the options the training is the same", form)
		}
	}
}
