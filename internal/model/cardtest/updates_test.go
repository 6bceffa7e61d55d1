//go:build linux

package cardtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/system/testkit"
)

// maker makes an optimizer.
type maker = func([]checkpoint.Named) (optimizer.Optimizer, error)

var makers = map[string]maker{
	"adafactor": func(p []checkpoint.Named) (optimizer.Optimizer, error) {
		o := optimizer.AdafactorDefaults()
		o.WeightDecay = 0.01
		return optimizer.NewAdafactor(p, o)
	},
	"adamw": func(p []checkpoint.Named) (optimizer.Optimizer, error) {
		return optimizer.NewAdamW(p, optimizer.AdamWOptions{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01})
	},
}

// TestUpdates: the second update is recorded, and replayed from there on. What comes of it are the parameters, losses and scales
// of updates that are each asked for, at rates that change, with bad ones among them and the ring read twice; and those of the
// CPU's own updates, of float32, one after another.
func TestUpdates(t *testing.T) {
	if !tensor.CanRecord(card) {
		t.Fatal("nothing can be recorded; `redsi doctor` says what is missing")
	}
	for name, make := range makers {
		for _, dtype := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
			name := fmt.Sprintf("updates, %s, %s", name, dtype)
			run(t, func(s *tensor.Scope) {
				cpu, cpuState, cpuSteps := oneByOne(t, s, make, dtype)
				want, wantUpdates, wantState, wantSteps := updates(t, s, make, dtype, false)
				got, gotUpdates, gotState, gotSteps := updates(t, s, make, dtype, true)
				for i := range want {
					near(t, name+", replayed", got[i].Float32s(), want[i].Float32s(), 1e-6)
					near(t, name, want[i].Float32s(), cpu[i].Float32s(), 1e-5)
				}
				if !slices.Equal(gotUpdates, wantUpdates) || gotState != wantState || gotSteps != wantSteps {
					t.Errorf("%s: %v, %+v, %d steps; want %v, %+v, %d", name, gotUpdates, gotState, gotSteps, wantUpdates, wantState, wantSteps)
				}
				if wantState.Skipped == 0 || wantSteps+wantState.Skipped != 8 || wantState != cpuState || wantSteps != cpuSteps {
					t.Errorf("%s: %d steps, %+v; on the CPU %d, %+v", name, wantSteps, wantState, cpuSteps, cpuState)
				}
			})
		}
	}
}

// draw makes parameters, or the gradients of an update.
func draw(s *tensor.Scope, seed uint64, dtype tensor.DType, dev tensor.Device) (drawn []*tensor.Tensor) {
	rng := &tensor.RNG{Seed: seed}
	for _, shape := range [][]int64{{64, 48}, {7}, {64, 48}, {30, 70}, {6, 4}, {5, 1}, {7}} {
		drawn = append(drawn, s.ToDevice(s.ToDType(s.Normal(rng, 0, 1, shape...), dtype), dev))
	}
	return drawn
}

func optimizerOf(t *testing.T, params []*tensor.Tensor, make maker) optimizer.Optimizer {
	var named []checkpoint.Named
	for i, p := range params {
		named = append(named, checkpoint.Named{Name: fmt.Sprint("p", i), Tensor: p})
	}
	return testkit.Value(make(named))(t)
}

// isBad says whether an update has gradients that are not finite.
func isBad(step int, dtype tensor.DType) bool { return dtype == tensor.F16 && step == 3 || step == 6 }

func rateOf(step int) float64 { return 0.01 * float64(1+step*step) }

// oneByOne makes eight updates as a CPU makes them, in float32. Of fp16 a bad one is left out; else the first one is the last.
func oneByOne(t *testing.T, s *tensor.Scope, make maker, dtype tensor.DType) (params []*tensor.Tensor, state amp.State, steps int64) {
	params, state = draw(s, 1, tensor.F32, tensor.CPU), amp.Start()
	o := optimizerOf(t, params, make)
	defer o.Close()
	for step := range 8 {
		if isBad(step, dtype) || dtype != tensor.F16 && state.Skipped > 0 {
			state.Skipped++
			if dtype == tensor.F16 {
				state.Scale, state.Good = state.Scale/2, 0
			}
			continue
		}
		grads, square := draw(s, 10+uint64(step), dtype, tensor.CPU), 0.0
		for i, g := range grads {
			grads[i] = s.ToDType(g, tensor.F32)
			if dtype == tensor.F16 {
				s.ScaleInPlace(grads[i], 1/state.Scale)
			}
			square += s.SquareSum(grads[i])
		}
		for _, g := range grads {
			s.ScaleInPlace(g, min(1, 2/(math.Sqrt(square)+1e-6)))
		}
		if o.Step(grads, rateOf(step)); dtype == tensor.F16 {
			state.Good++
		}
	}
	return params, state, o.Steps()
}

// updates makes eight of gradients of a type, and gives the parameters and what came of each update.
func updates(t *testing.T, s *tensor.Scope, make maker, dtype tensor.DType, recorded bool) (params []*tensor.Tensor, all []amp.Update, state amp.State, steps int64) {
	params = draw(s, 1, tensor.F32, card)
	o := optimizerOf(t, params, make)
	defer o.Close()
	scaler := testkit.Value(amp.New(card, amp.Options{Scaled: dtype == tensor.F16, ClipNorm: 2, Ring: 4}))(t)
	defer scaler.Close()
	grads, loss := draw(s, 2, dtype, card), s.Zeros(tensor.F32, card)
	rate, slot := s.Zeros(tensor.F32, card, 1), s.Zeros(tensor.I64, card, 1)
	update := func() {
		scaler.Check(loss, grads, slot)
		o.StepOn(grads, rate, scaler)
	}
	var graph *tensor.Graph
	defer func() { graph.Free() }()
	for step := range 8 {
		s.CopyAll(grads, draw(s, 10+uint64(step), dtype, card))
		if isBad(step, dtype) {
			s.FillInPlace(grads[3], math.NaN())
		}
		s.FillInPlace(loss, float64(step))
		s.FillInPlace(rate, rateOf(step))
		s.FillInPlace(slot, float64(scaler.Slot()))
		if recorded && step == 1 {
			graph = testkit.Value(tensor.Record(card, nil, update))(t)
		}
		if graph != nil {
			graph.Replay()
		} else {
			update()
		}
		scaler.Checked()
		if scaler.Full() {
			now, read := scaler.Read()
			state, all = now, append(all, read...)
		}
	}
	return params, all, state, o.Steps()
}
