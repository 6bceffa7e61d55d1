package amp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/adamw"
	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

// optimizer is what both are.
type optimizer interface {
	Step(grads []*tensor.Tensor, rate float64)
	StepOn(grads []*tensor.Tensor, rate *tensor.Tensor, scaler *amp.Scaler)
	Steps() int64
	Close()
}

var optimizers = map[string]func([]checkpoint.Named) (optimizer, error){
	"adafactor": func(p []checkpoint.Named) (optimizer, error) { return adafactor.New(p, adafactor.Defaults()) },
	"adamw": func(p []checkpoint.Named) (optimizer, error) {
		return adamw.New(p, adamw.Options{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01})
	},
}

const updates = 20

// draw makes parameters, or the gradients of an update, some of which are bad.
func draw(s *tensor.Scope, seed uint64, deviation float64, d tensor.DType, device tensor.Device) (all []*tensor.Tensor) {
	rng := &tensor.RNG{Seed: seed}
	for _, shape := range [][]int64{{64, 48}, {7}, {64, 48}, {300, 70}, {5, 1}, {7}, {6, 4}} {
		all = append(all, s.ToDevice(s.ToDType(s.Normal(rng, 0, deviation, shape...), d), device))
	}
	return all
}

func gradientsOf(s *tensor.Scope, step int, d tensor.DType, device tensor.Device) []*tensor.Tensor {
	grads := draw(s, 100+uint64(step), 0.3, d, device)
	if d == tensor.F16 && step%8 == 3 || step == 18 {
		s.FillInPlace(s.Narrow(grads[3], 0, 299, 1), math.NaN())
	}
	return grads
}

func start(t *testing.T, s *tensor.Scope, make func([]checkpoint.Named) (optimizer, error), device tensor.Device) (optimizer, []checkpoint.Named) {
	t.Helper()
	var named []checkpoint.Named
	for i, p := range draw(s, 1, 1, tensor.F32, device) {
		named = append(named, checkpoint.Named{Name: fmt.Sprint("p", i), Tensor: p})
	}
	o, err := make(named)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o, named
}

var resumed = amp.State{Scale: 16, Good: 1990}

// onCard makes updates that nothing waits for, of gradients of a type.
func onCard(t *testing.T, s *tensor.Scope, make func([]checkpoint.Named) (optimizer, error), device tensor.Device, d tensor.DType) ([]checkpoint.Named, amp.State, int64) {
	t.Helper()
	o, params := start(t, s, make, device)
	a, err := amp.New(device, amp.Options{Scaled: d == tensor.F16, ClipNorm: 2, Ring: updates})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	a.Restore(resumed)
	for step := range updates {
		grads := gradientsOf(s, step, d, device)
		a.Check(s.Full(1, tensor.F32, device), grads, s.Full(float64(a.Slot()), tensor.I64, device, 1))
		o.StepOn(grads, s.Full(0.01, tensor.F32, device, 1), a)
		a.Checked()
	}
	state, _ := a.Read()
	return params, state, o.Steps()
}

// onCPU makes the same updates, as they are made on a CPU: one thing after another, in float32.
func onCPU(t *testing.T, s *tensor.Scope, make func([]checkpoint.Named) (optimizer, error), d tensor.DType) ([]checkpoint.Named, amp.State, int64) {
	t.Helper()
	o, params := start(t, s, make, tensor.CPU)
	scaler := gradScaler{Scale: resumed.Scale, Good: resumed.Good}
	skipped := int64(0)
	for step := range updates {
		grads, finite, square := []*tensor.Tensor{}, true, 0.0
		for _, g := range gradientsOf(s, step, d, tensor.CPU) {
			g = s.ToDType(g, tensor.F32)
			finite = finite && s.AllFinite(g)
			if d == tensor.F16 {
				s.ScaleInPlace(g, 1/scaler.Scale)
			}
			grads, square = append(grads, g), square+s.SquareSum(g)
		}
		if d == tensor.F16 {
			scaler.Update(finite)
		}
		if !finite || d != tensor.F16 && skipped > 0 { // the first bad one is the last
			skipped++
			continue
		}
		for _, g := range grads {
			s.ScaleInPlace(g, min(1, 2/(math.Sqrt(square)+1e-6)))
		}
		o.Step(grads, 0.01)
	}
	return params, amp.State{Scale: scaler.Scale, Good: scaler.Good, Skipped: skipped}, o.Steps()
}

// compare updates on a card, which is there until its end, with those of the CPU's own operations:
// parameters agree within 1e-5 of the largest.
func compare(t *testing.T, card func() (end func())) {
	for name, make := range optimizers {
		for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
			tensortest.Run(t, func(s *tensor.Scope) {
				end := card()
				got, state, steps := onCard(t, s, make, tensor.CUDA(0), d)
				end()
				want, wantState, wantSteps := onCPU(t, s, make, d)
				if state != wantState || steps != wantSteps || state.Skipped == 0 {
					t.Errorf("%s, %s: %d steps, %+v; want %d, %+v", name, d, steps, state, wantSteps, wantState)
				}
				for i := range want {
					tensortest.Near(t, fmt.Sprintf("%s, %s: %s", name, d, want[i].Name), got[i].Tensor, want[i].Tensor, 1e-5)
				}
			})
		}
	}
}

func TestEmulatedCard(t *testing.T) {
	compare(t, tensor.Emulate)
}
