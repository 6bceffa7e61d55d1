package amp_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/calls"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

// asked are the operators that f calls, each with what it takes: numbers, and tensors' shapes. What the
// CPU's kernels read, instead of a card, is not among them: TestLaunches sees whether anything else waits.
func asked(t *testing.T, f func()) (all []string) {
	t.Helper()
	var found []struct {
		Operator string
		Takes    json.RawMessage
	}
	text := calls.Of("aten::", f)
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, c := range found {
		if c.Operator == "aten::item" || c.Operator == "aten::_local_scalar_dense" {
			continue
		}
		all = append(all, c.Operator+" "+string(c.Takes))
	}
	return all
}

// TestOneCallForAllUpdates: what an update asks of a card is the same from the second one on, whatever the
// rate, the slot, the number of the update, loss and gradients: so it can be recorded and replayed. No
// number of the host that differs goes into it, and no tensor is left behind.
func TestOneCallForAllUpdates(t *testing.T) {
	card := tensor.CUDA(0)
	for name, make := range optimizers {
		for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
			tensortest.Run(t, func(s *tensor.Scope) {
				defer tensor.Emulate()()
				o, _ := start(t, s, make, card)
				a, err := amp.New(card, amp.Options{Scaled: d == tensor.F16, ClipNorm: 2, Ring: 4})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(a.Close)
				rate, slot, loss := s.Zeros(tensor.F32, card, 1), s.Zeros(tensor.I64, card, 1), s.Zeros(tensor.F32, card)
				var second []string
				for step := range 12 {
					grads := gradientsOf(s, step, d, card)
					s.FillInPlace(rate, 0.01*float64(1+step))
					s.FillInPlace(slot, float64(a.Slot()))
					s.FillInPlace(loss, float64(step))
					if step == 9 {
						s.FillInPlace(loss, math.Inf(1))
					}
					before := tensor.Live()
					now := asked(t, func() {
						a.Check(loss, grads, slot)
						o.StepOn(grads, rate, a)
					})
					a.Checked()
					if step == 1 {
						second = now
					}
					if left := tensor.Live() - before; left != 0 && step > 0 {
						t.Fatalf("%s, %s: update %d leaves %d tensors", name, d, step, left)
					}
					if len(now) < 10 || step > 0 && len(now) != len(second) {
						t.Fatalf("%s, %s: update %d makes %d calls, the second one %d", name, d, step, len(now), len(second))
					}
					for i := range second {
						if now[i] != second[i] {
							t.Fatalf("%s, %s: update %d calls %s; the second one %s", name, d, step, now[i], second[i])
						}
					}
					if a.Full() {
						a.Read()
					}
				}
			})
		}
	}
}
