//go:build linux

package cardtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/adamw"
	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/train/fit"
)

// updater is what both optimizers are.
type updater interface {
	fit.Optimizer
	Steps() int64
	Close()
}

// TestReplayedUpdates: the second update is recorded, and replayed from there on. What comes of it are the
// parameters, losses and scales of updates that are each asked for, at rates that change, with bad ones
// among them and the ring read twice.
func TestReplayedUpdates(t *testing.T) {
	if !tensor.CanRecord(card) {
		t.Fatal("nothing can be recorded; `redsi doctor` says what is missing")
	}
	for name, make := range map[string]func([]checkpoint.Named) (updater, error){
		"adafactor": func(p []checkpoint.Named) (updater, error) {
			o := adafactor.Defaults()
			o.WeightDecay = 0.01
			return adafactor.New(p, o)
		},
		"adamw": func(p []checkpoint.Named) (updater, error) {
			return adamw.New(p, adamw.Options{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01})
		},
	} {
		for _, dtype := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
			name := fmt.Sprintf("updates, %s, %s, replayed", name, dtype)
			run(t, func(s *tensor.Scope) {
				want, wantUpdates, wantState, wantSteps := updates(t, s, make, dtype, false)
				got, gotUpdates, gotState, gotSteps := updates(t, s, make, dtype, true)
				for i := range want {
					near(t, name, got[i].Float32s(), want[i].Float32s(), 1e-6)
				}
				if !slices.Equal(gotUpdates, wantUpdates) || gotState != wantState || gotSteps != wantSteps {
					t.Errorf("%s: %v, %+v, %d steps; want %v, %+v, %d", name, gotUpdates, gotState, gotSteps, wantUpdates, wantState, wantSteps)
				}
				if wantState.Skipped == 0 || wantSteps+wantState.Skipped != 8 {
					t.Errorf("%s: %d steps, %+v", name, wantSteps, wantState)
				}
			})
		}
	}
}

// updates makes eight of gradients of a type, and gives the parameters and what came of each update.
func updates(t *testing.T, s *tensor.Scope, make func([]checkpoint.Named) (updater, error), dtype tensor.DType, recorded bool) (params []*tensor.Tensor, all []amp.Update, state amp.State, steps int64) {
	shapes := [][]int64{{64, 48}, {7}, {64, 48}, {30, 70}, {6, 4}}
	draw := func(seed uint64, dtype tensor.DType) (drawn []*tensor.Tensor) {
		rng := &tensor.RNG{Seed: seed}
		for _, shape := range shapes {
			drawn = append(drawn, s.ToDevice(s.ToDType(s.Normal(rng, 0, 1, shape...), dtype), card))
		}
		return drawn
	}
	params = draw(1, tensor.F32)
	var named []checkpoint.Named
	for i, p := range params {
		named = append(named, checkpoint.Named{Name: fmt.Sprint("p", i), Tensor: p})
	}
	o, err := make(named)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	scaler, err := amp.New(card, amp.Options{Scaled: dtype == tensor.F16, ClipNorm: 2, Ring: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer scaler.Close()
	grads, loss := draw(2, dtype), s.Zeros(tensor.F32, card)
	rate, slot := s.Zeros(tensor.F32, card, 1), s.Zeros(tensor.I64, card, 1)
	update := func() {
		scaler.Check(loss, grads, slot)
		o.StepOn(grads, rate, scaler)
	}
	var graph *tensor.Graph
	defer func() { graph.Free() }()
	for step := range 8 {
		s.CopyAll(grads, draw(10+uint64(step), dtype))
		if dtype == tensor.F16 && step == 3 || step == 6 {
			s.FillInPlace(grads[3], math.NaN())
		}
		s.FillInPlace(loss, float64(step))
		s.FillInPlace(rate, 0.01*float64(1+step*step))
		s.FillInPlace(slot, float64(scaler.Slot()))
		if recorded && step == 1 {
			if graph, err = tensor.Record(card, nil, update); err != nil {
				t.Fatal(err)
			}
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
