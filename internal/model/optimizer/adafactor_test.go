package optimizer

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
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
	f := testkit.Value(checkpoint.Open(bytes.NewReader(data), int64(len(data))))(t)
	return oracle{t, f, data}
}

func (o oracle) tensor(s *tensor.Scope, name string, shape ...int64) *tensor.Tensor {
	o.t.Helper()
	return testkit.Value(o.f.Tensor(s, name, tensor.F32, tensor.CPU, shape...))(o.t)
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
		for _, on := range []bool{false, true} {
			tensortest.Run(t, func(s *tensor.Scope) {
				g := open(t, scaled)
				options := AdafactorDefaults()
				options.ScaleParameter = scaled
				params := g.start(s)
				a := adafactorBy(options).start(t, params).(*Adafactor)
				for step := 1; step <= 20; step++ {
					if grads := g.grads(s, step); on {
						a.StepOn(grads, rateOf(s, 1e-2), nil)
					} else {
						a.Step(grads, 1e-2)
					}
					if step > 3 && step < 20 {
						continue
					}
					for _, p := range params {
						g.near(fmt.Sprintf("after.%d.%s", step, p.Name), p.Tensor, shapes[p.Name]...)
					}
				}
				for i, p := range params {
					row, col, full := a.at(a.moments[i].row), a.at(a.moments[i].col), a.at(a.moments[i].full)
					if full != nil {
						g.near("state.exp_avg_sq."+p.Name, full, full.Shape()...)
					} else {
						g.near("state.exp_avg_sq_row."+p.Name, row, row.Shape()...)
						g.near("state.exp_avg_sq_col."+p.Name, col, col.Shape()...)
					}
				}
			})
		}
	}
}

// TestDecayAlone: without gradients only weight decay is left, which is Step's to the last digits.
func TestDecayAlone(t *testing.T) {
	for _, scale := range []bool{false, true} {
		o := AdafactorDefaults()
		o.ScaleParameter, o.WeightDecay = scale, 0.3
		m := adafactorBy(o)
		tensortest.Run(t, func(s *tensor.Scope) {
			a, b, none := m.start(t, m.params(s)), m.start(t, m.params(s)), m.draw(s, 2, 0, 0)
			for range 3 {
				a.StepOn(none, rateOf(s, 0.2), nil)
				b.Step(none, 0.2)
			}
			for i, p := range a.(*Adafactor).params {
				tensortest.Near(t, fmt.Sprintf("scale %v: %s %v", scale, p.Name, p.Tensor.Shape()), p.Tensor, b.(*Adafactor).params[i].Tensor, 4e-7)
			}
		})
	}
}

// TestHalfGradients: an update by gradients of BF16, also some of a larger matrix's columns, is that by the same numbers in F32.
func TestHalfGradients(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		after := func(as tensor.DType) (all []byte) {
			rng := &tensor.RNG{Seed: 1}
			params := []checkpoint.Named{{Name: "matrix", Tensor: s.Normal(rng, 0, 1, 12, 7)}, {Name: "vector", Tensor: s.Normal(rng, 0, 1, 9)}}
			a := adafactor.start(t, params)
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
	})
}
