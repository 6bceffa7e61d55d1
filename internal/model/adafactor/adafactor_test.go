package adafactor

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
)

var shapes = map[string][]int64{"matrix": {12, 7}, "tall": {40, 3}, "vector": {9}, "rows": {5, 1}, "unused_rows": {6, 4}}

// oracle is a golden file of transformers 4.44.1 (tools/golden/adafactor.py).
type oracle struct {
	t    *testing.T
	f    *checkpoint.File
	data []byte
}

func open(t *testing.T, scaled bool) oracle {
	t.Helper()
	data := goldens.Text(t, fmt.Sprintf("testdata/scale_parameter_%v.safetensors", scaled))
	f := errtest.Value(checkpoint.Open(bytes.NewReader(data), int64(len(data))))(t)
	return oracle{t, f, data}
}

func (o oracle) tensor(s *tensor.Scope, name string, shape ...int64) *tensor.Tensor {
	o.t.Helper()
	v, err := o.f.Tensor(s, name, tensor.F32, tensor.CPU, shape...)
	errtest.None(o.t, err)
	return v
}

func (o oracle) near(name string, got *tensor.Tensor, shape ...int64) {
	o.t.Helper()
	s := tensor.NewScope()
	defer s.Close()
	want := o.tensor(s, name, shape...).Float32s()
	for i, v := range got.Float32s() {
		if d := math.Abs(float64(v - want[i])); !(d <= 2e-6*max(0.05, math.Abs(float64(want[i])))) {
			o.t.Fatalf("%s[%d] = %g, want %g", name, i, v, want[i])
		}
	}
}

func (o oracle) start(s *tensor.Scope) []checkpoint.Named {
	var params []checkpoint.Named
	for _, name := range names() {
		params = append(params, checkpoint.Named{Name: name, Tensor: o.tensor(s, "start."+name, shapes[name]...)})
	}
	return params
}

func (o oracle) grads(s *tensor.Scope, step int) []*tensor.Tensor {
	var grads []*tensor.Tensor
	for _, name := range names() {
		grads = append(grads, o.tensor(s, fmt.Sprintf("grad.%d.%s", step, name), shapes[name]...))
	}
	return grads
}

func names() []string { return slices.Sorted(maps.Keys(shapes)) }

func TestTwentyStepsAreTransformers(t *testing.T) {
	for _, scaled := range []bool{false, true} {
		live := tensor.Live()
		err := tensor.Run(func(s *tensor.Scope) {
			g := open(t, scaled)
			options := Defaults()
			options.ScaleParameter = scaled
			params := g.start(s)
			a, err := New(params, options)
			errtest.None(t, err)
			defer a.Close()
			for step := 1; step <= 20; step++ {
				a.Step(g.grads(s, step), 1e-2)
				if step > 3 && step < 20 {
					continue
				}
				for _, p := range params {
					g.near(fmt.Sprintf("after.%d.%s", step, p.Name), p.Tensor, shapes[p.Name]...)
				}
			}
			for i, p := range params {
				row, col, full := a.At(a.moments[i].row), a.At(a.moments[i].col), a.At(a.moments[i].full)
				if full != nil {
					g.near("state.exp_avg_sq."+p.Name, full, full.Shape()...)
				} else {
					g.near("state.exp_avg_sq_row."+p.Name, row, row.Shape()...)
					g.near("state.exp_avg_sq_col."+p.Name, col, col.Shape()...)
				}
			}
		})
		if err != nil || tensor.Live() != live {
			t.Errorf("%v; %d tensors leaked", err, tensor.Live()-live)
		}
	}
}

// 5 steps, saved, read by a new optimizer, 5 more, are 10 steps, bit for bit.
func TestResumeIsExact(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		g := open(t, true)
		options := Defaults()
		options.WeightDecay = 0.01
		steps := func(a *Optimizer, from, to int) {
			for step := from; step <= to; step++ {
				a.Step(g.grads(s, step), 1e-2)
			}
		}
		make := func(params []checkpoint.Named) *Optimizer {
			a := errtest.Value(New(params, options))(t)
			t.Cleanup(a.Close)
			return a
		}
		whole, parts := g.start(s), g.start(s)
		steps(make(whole), 1, 10)
		first := make(parts)
		steps(first, 1, 5)
		var file bytes.Buffer
		errtest.None(t, first.Write(&file))
		second := make(parts)
		errtest.None(t, second.Read(bytes.NewReader(file.Bytes()), int64(file.Len())))
		if second.Steps() != 5 {
			t.Errorf("read at step %d", second.Steps())
		}
		steps(second, 6, 10)
		for i := range whole {
			if !bytes.Equal(whole[i].Tensor.Bytes(), parts[i].Tensor.Bytes()) {
				t.Errorf("%s differs", whole[i].Name)
			}
		}
	})
}

func TestMistakes(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		p := []checkpoint.Named{{Name: "p", Tensor: s.Zeros(tensor.F32, tensor.CPU, 2, 3)}}
		if _, err := New(p, Options{}); err == nil {
			t.Error("empty options were accepted")
		}
		a := errtest.Value(New(p, Defaults()))(t)
		defer a.Close()
		for want, grads := range map[string][]*tensor.Tensor{
			"0 gradients for 1":          nil,
			"the gradient has shape [3]": {s.Zeros(tensor.F32, tensor.CPU, 3)},
		} {
			errtest.Says(t, tensor.Try(func() { a.Step(grads, 1) }), want)
		}
		read := func(step, name string, shape ...int64) error {
			var b bytes.Buffer
			zeros := s.Zeros(tensor.F32, tensor.CPU, shape...)
			err := safetensors.Write(&b, map[string]string{"step": step}, []safetensors.Source{{Name: name, DType: "F32", Shape: shape, Write: zeros.Write}})
			errtest.None(t, err)
			return a.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
		}
		for want, err := range map[string]error{
			"steps":              read("x", "p.exp_avg_sq_row", 2),
			"no tensor":          read("3", "q.exp_avg_sq_row", 2),
			"has shape [3]":      read("3", "p.exp_avg_sq_row", 3),
			"no header length":   a.Read(bytes.NewReader(nil), 0),
			"p.exp_avg_sq_col\"": read("3", "p.exp_avg_sq_row", 2),
		} {
			errtest.Says(t, err, want)
		}
	})
}

// TestHalfGradients: an update by gradients of BF16, also some of a larger matrix's columns, is that by the same numbers in F32.
func TestHalfGradients(t *testing.T) {
	errtest.None(t, tensor.Run(func(s *tensor.Scope) {
		after := func(as tensor.DType) (all []byte) {
			rng := &tensor.RNG{Seed: 1}
			params := []checkpoint.Named{{Name: "matrix", Tensor: s.Normal(rng, 0, 1, 12, 7)}, {Name: "vector", Tensor: s.Normal(rng, 0, 1, 9)}}
			a := errtest.Value(New(params, Defaults()))(t)
			defer a.Close()
			half := func(shape ...int64) *tensor.Tensor {
				return s.ToDType(s.ToDType(s.Normal(rng, 0, 1, shape...), tensor.BF16), as)
			}
			a.Step([]*tensor.Tensor{s.Narrow(half(12, 20), 1, 3, 7), half(9)}, 1e-2)
			for _, p := range params {
				all = append(all, p.Tensor.Bytes()...)
			}
			return all
		}
		if !bytes.Equal(after(tensor.BF16), after(tensor.F32)) {
			t.Error("the type of a gradient changes what it does")
		}
	}))
}
