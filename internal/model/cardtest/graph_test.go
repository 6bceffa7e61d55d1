//go:build linux

package cardtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestGraphs: what is recorded computes, draws and changes what the same steps do that are not, in two graphs of one memory,
// whatever is in their inputs; a recording that fails leaves nothing behind; they may be freed in any order.
func TestGraphs(t *testing.T) {
	if !tensor.CanRecord(card) {
		t.Fatalf("nothing can be recorded on this card: %s", tensor.Card().GraphsReason)
	}
	run(t, func(s *tensor.Scope) {
		x, w := s.Zeros(tensor.F32, card, 64, 48), s.Normal(&tensor.RNG{Seed: 3}, 0, 1, 32, 48)
		w = s.ToDevice(w, card)
		sum := s.Zeros(tensor.F32, card, 32, 48)
		step := func(rows int64) func() { // sum += the gradient of w by the first rows, with a part left out
			return func() {
				tensor.Within(func(s *tensor.Scope) {
					s.Leaf(w)
					y := s.Linear(s.Dropout(s.Narrow(x, 0, 0, rows), 0.3, &tensor.RNG{}), w)
					g := s.Gradients(s.Sum(s.Mul(y, y)), []*tensor.Tensor{w})
					tensor.NoGrad(func() { s.AddInPlace(sum, g[0]) })
				})
			}
		}
		// values is what three calls leave, of one seed.
		values := func(f func()) []float32 {
			s.FillInPlace(sum, 0)
			tensor.SeedDevice(card, &tensor.RNG{Seed: 9})
			for range 3 {
				f()
			}
			return sum.Float32s()
		}
		values(step(64))
		long := testkit.Value(tensor.Record(card, nil, step(64)))(t)
		values(step(24))
		short := testkit.Value(tensor.Record(card, long, step(24)))(t)
		for name, f := range map[string]func(){
			"a copy":   func() { sum.Float32s() },
			"an error": func() { tensor.Failf("step", "it cannot") },
			"a graph":  func() { _, err := tensor.Record(card, nil, step(64)); tensor.Failf("Record", "%v", err) },
		} {
			if g, err := tensor.Record(card, long, func() { step(64)(); f() }); g != nil || err == nil {
				t.Errorf("%s was recorded: %v", name, err)
			}
			if fresh, err := tensor.Record(card, nil, step(24)); err != nil {
				t.Errorf("after %s: %v", name, err)
			} else {
				near(t, "recorded after "+name, values(fresh.Replay), values(step(24)), 1e-6)
				fresh.Free()
			}
		}
		for n := range uint64(3) {
			s.CopyInPlace(x, s.ToDevice(s.Normal(&tensor.RNG{Seed: n}, 0, 1, 64, 48), card))
			near(t, fmt.Sprintf("graph of 64 rows, batch %d", n), values(long.Replay), values(step(64)), 1e-6)
			near(t, fmt.Sprintf("graph of 24 rows, batch %d", n), values(short.Replay), values(step(24)), 1e-6)
		}
		want := values(step(24))
		long.Free()
		near(t, "a graph whose memory another one had", values(short.Replay), want, 1e-6)
		if slices.Max(want) == 0 {
			t.Error("the step computes nothing")
		}
		short.Free()
	})
}
