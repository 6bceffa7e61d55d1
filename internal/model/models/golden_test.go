package models

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// The goldens are transformers 4.44.1's (tools/golden/t5.py and bart.py).
var variants = []string{"t5/v1_0", "t5/v1_1", "bart/scaled"}

// every has models of other feed-forward layers, mT5 and umT5 too.
var every = append(variants, "t5/gated_silu", "t5/gelu", "t5/mt5", "t5/umt5", "t5/umt5_untied", "bart/plain")

// by5 are folders that transformers 5.24.0 wrote, one of them bfloat16 in several files, with its goldens (tools/golden/transformers5.py).
var by5 = []string{"t5/by5/resaved", "t5/by5/mt5_resaved", "t5/by5/umt5_resaved", "t5/by5/bf16", "t5/by5/untied", "t5/by5/tied", "t5/by5/mt5"}

// place is a file of a folder of a family's goldens.
func place(name string, file ...string) string {
	family, name, _ := strings.Cut(name, "/")
	return filepath.Join(append([]string{"..", family, "testdata", name}, file...)...)
}

// model opens a folder until the test ends, or one of goldens.
func model(t testing.TB, name string) *seq2seq.Model {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = place(name)
	}
	m := testkit.Value(Load(name, tensor.CPU))(t)
	t.Cleanup(m.Close)
	return m
}

// batch is the batch of a model's family.
func batch(t testing.TB, name string) (b seq2seq.Batch) {
	t.Helper()
	family, _, _ := strings.Cut(name, "/")
	goldens.JSON(t, place(family, "batch.json"), &b)
	return b
}

type golden struct {
	t testing.TB
	f *safetensors.File
}

func open(t testing.TB, name string) golden {
	t.Helper()
	data := goldens.Text(t, place(name, "golden.safetensors"))
	return golden{t, testkit.Value(safetensors.Open(bytes.NewReader(data), int64(len(data))))(t)}
}

func (g golden) values(name string) []float32 {
	g.t.Helper()
	i := slices.IndexFunc(g.f.Tensors, func(t safetensors.Info) bool { return t.Name == name })
	if i < 0 {
		g.t.Fatalf("no golden %q", name)
	}
	info := g.f.Tensors[i]
	var v []float32
	tensortest.Run(g.t, func(s *tensor.Scope) {
		v = testkit.Value(s.Read(g.f.Open(info), tensor.F32, tensor.CPU, info.Shape...))(g.t).Float32s()
	})
	return v
}

// apart is the largest difference and the largest value wanted.
func apart(t testing.TB, name string, got, want []float32) (difference, largest float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i := range got {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			t.Fatalf("%s: NaN at %d", name, i)
		}
		difference, largest = max(difference, d), max(largest, math.Abs(float64(want[i])))
	}
	return difference, largest
}

func TestForwardIsTransformers(t *testing.T) {
	for _, name := range append(by5, every...) {
		m, b, g := model(t, name), batch(t, name), open(t, name)
		tensortest.Run(t, func(s *tensor.Scope) {
			for what, got := range map[string]*tensor.Tensor{"encoder": m.Encode(s, b.Inputs, nil).Hidden, "logits": m.ForcedLogits(s, b)} {
				d, largest := apart(t, what, got.Float32s(), g.values(what))
				t.Logf("%s %s: max |diff| %.2g of values up to %.2g", name, what, d, largest)
				if d > 1e-5*max(1, largest) {
					t.Errorf("%s %s: max |diff| %g", name, what, d)
				}
			}
		})
		loss, err := m.Loss(b)
		if want := g.values("loss")[0]; err != nil || math.Abs(loss-float64(want)) > 1e-5 {
			t.Errorf("%s: loss %g, %v, want %g", name, loss, err, want)
		}
	}
}

func TestGradientsAreTransformers(t *testing.T) {
	for _, name := range every {
		m, b, g := model(t, name), batch(t, name), open(t, name)
		worst := 0.0
		tensortest.Run(t, func(s *tensor.Scope) {
			of, grads := m.Gradients(s, m.Prepare(b), nil, seq2seq.Scale{})
			loss := of.Item()
			if want := g.values("loss")[0]; math.Abs(loss-float64(want)) > 1e-5 {
				t.Errorf("%s: loss %g, want %g", name, loss, want)
			}
			for i, p := range m.Params {
				d, largest := apart(t, p.Name, grads[i].Float32s(), g.values("grad."+p.Name))
				worst = max(worst, d/largest)
				if d > 1e-5*max(1, largest) {
					t.Errorf("%s %s: max |diff| %g, largest gradient %g", name, p.Name, d, largest)
				}
			}
		})
		t.Logf("%s: max |diff| of any gradient, relative to its largest value: %.2g", name, worst)
	}
}

// TestUpdatesAreTransformers: so are BART's parameters after two updates.
func TestUpdatesAreTransformers(t *testing.T) {
	for _, name := range []string{"bart/plain", "bart/scaled"} {
		m, b, g := model(t, name), batch(t, name), open(t, name)
		options := optimizer.AdafactorDefaults()
		options.ScaleParameter = false // as in tools/golden/bart.py
		o := testkit.Value(optimizer.NewAdafactor(m.Params, options))(t)
		defer o.Close()
		tensortest.Run(t, func(s *tensor.Scope) {
			for range 2 {
				_, grads := m.Gradients(s, m.Prepare(b), nil, seq2seq.Scale{})
				tensor.NoGrad(func() { o.Step(grads, 1e-2) })
			}
			for _, p := range m.Params {
				// NOTE softmax takes no notice of the keys' bias: its gradient is rounding, which
				// Adafactor makes as large as any other.
				if strings.HasSuffix(p.Name, "k_proj.bias") {
					continue
				}
				if d, largest := apart(t, p.Name, s.Detach(p.Tensor).Float32s(), g.values("after."+p.Name)); d > max(1e-3*largest, 1e-6) {
					t.Errorf("%s: %s: max |diff| %g of values up to %g", name, p.Name, d, largest)
				}
			}
		})
	}
}

// An ignored label in the middle counts for nothing and is read as padding.
func TestIgnoredLabels(t *testing.T) {
	m, b := model(t, "t5/v1_0"), batch(t, "t5")
	whole := func(labels []int32) float64 {
		return testkit.Value(m.Loss(seq2seq.Batch{Inputs: b.Inputs[:1], Labels: [][]int32{labels}}))(t)
	}
	got, sum := whole([]int32{5, seq2seq.Ignore, 7}), 0.0
	err := tensor.Run(func(s *tensor.Scope) {
		logits := m.ForcedLogits(s, seq2seq.Batch{Inputs: b.Inputs[:1], Labels: [][]int32{{5, 0, 7}}})
		p := s.LogSoftmax(logits, -1, tensor.F32).Float32s()
		sum = -float64(p[5]) - float64(p[2*100+7])
	})
	testkit.That(t, err == nil && math.Abs(got-sum/2) <= 1e-5, "loss", got, "want", sum/2, err)
}

func TestBuckets(t *testing.T) {
	var tables map[string][]int64
	goldens.JSON(t, place("t5", "buckets.json"), &tables)
	for name, want := range tables {
		var buckets, most int64
		var both bool
		testkit.None(t, testkit.Err(fmt.Sscan(name, &buckets, &most, &both)))
		for i, w := range want {
			if got := (tensor.Buckets{Number: buckets, MaxDistance: most, Both: both}).Of(int64(i) - 300); got != w {
				t.Errorf("%s: distance %d is in bucket %d, want %d", name, i-300, got, w)
			}
		}
	}
}

// Decoding token by token gives the logits of the whole sequence at once, with rows
// that multiply, change places and end.
func TestStepsAreTheWhole(t *testing.T) {
	for _, name := range every {
		m, b := model(t, name), batch(t, name)
		inputs := b.Inputs[:2]
		rows := [][]int32{{7, 9, 4}, {7, 3, 8}, {2, 6, 5}} // the first two belong to input 0
		tensortest.Run(t, func(s *tensor.Scope) {
			c := m.NewCache(m.Encode(s, inputs, nil), 4)
			defer c.Close()
			check := func(row int, at int64, states *tensor.Tensor, i int64) {
				whole := m.ForcedLogits(s, seq2seq.Batch{Inputs: inputs[row/2 : row/2+1], Labels: [][]int32{append(rows[row], 0)}})
				got := s.Select(m.LogitsOf(s, states, m.Head()), 0, i).Float32s()
				if d, _ := apart(t, "step", got, s.Select(whole, 0, at).Float32s()); d > 1e-5 {
					t.Errorf("%s: row %d, step %d: max |diff| %g", name, row, at, d)
				}
			}
			start := int32(m.Vocabulary().Start)
			states := c.Step(s, []int32{start, start})
			check(0, 0, states, 0)
			check(2, 0, states, 1)
			c.Select([]int64{0, 0, 1})
			states = c.Step(s, []int32{7, 7, 2})
			check(1, 1, states, 1)
			check(2, 1, states, 2)
			states = c.Step(s, []int32{9, 3, 6})
			check(0, 2, states, 0)
			check(1, 2, states, 1)
			c.Select([]int64{1, 0, 2}) // the first two change places …
			c.Select([]int64{0, 1})    // … and the last one ends
			states = c.Step(s, []int32{8, 4})
			check(1, 3, states, 0)
			check(0, 3, states, 1)
			testkit.Is(t, c.Rows(), 2, "rows")
		})
	}
	testkit.ErrSays(t, tensor.Run(func(s *tensor.Scope) {
		m := model(t, "t5/v1_0")
		c := m.NewCache(m.Encode(s, [][]int32{{5, 1}}, nil), 1)
		defer c.Close()
		c.Step(s, []int32{0})
		c.Step(s, []int32{0})
	}), "room for 1 tokens")
}
