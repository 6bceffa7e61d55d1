package amp_test

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/testkit"
)

func scaler(t *testing.T, o amp.Options) *amp.Scaler {
	t.Helper()
	a := testkit.Value(amp.New(tensor.CPU, o))(t)
	t.Cleanup(a.Close)
	return a
}

// check checks an update as it is made: with the slot that is next.
func check(s *tensor.Scope, a *amp.Scaler, loss *tensor.Tensor, grads []*tensor.Tensor) {
	a.Check(loss, grads, s.Full(float64(a.Slot()), tensor.I64, tensor.CPU, 1))
	a.Checked()
}

func run(t *testing.T, f func(*tensor.Scope)) {
	t.Helper()
	live := tensor.Live()
	t.Cleanup(func() { // after the scalers' cleanups
		testkit.Is(t, tensor.Live(), live, tensor.Live()-live)
	})
	testkit.None(t, tensor.Run(f))
}

// gradients of three types, one value of which is set.
func gradients(s *tensor.Scope, value float64) (all []*tensor.Tensor) {
	for i, d := range []tensor.DType{tensor.F16, tensor.F32, tensor.BF16, tensor.F16} {
		g := s.Full(0.5, d, tensor.CPU, 2, 3)
		if i == 3 {
			s.FillInPlace(s.Narrow(g, 1, 2, 1), value)
		}
		all = append(all, g)
	}
	return all
}

// TestScaleIsTheCPUs: the scale of any sequence of good and bad updates is GradScaler's, from
// its states, over several reads.
func TestScaleIsTheCPUs(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		a := scaler(t, amp.Options{Scaled: true, Ring: 7})
		want := amp.Start()
		if state, updates := a.Read(); state != want || want.Scale != 65536 || updates != nil {
			t.Errorf("at first %+v, %v", state, updates)
		}
		good, bad := gradients(s, 1), gradients(s, math.Inf(-1))
		loss := s.Full(3, tensor.BF16, tensor.CPU)
		for _, from := range []int{0, 1995} {
			want.Good = from
			a.Restore(want)
			for i := range 40 {
				finite := i < 12 || i%9 != 0
				if want.Good++; !finite {
					check(s, a, loss, bad)
					want = amp.State{Scale: want.Scale / 2, Skipped: want.Skipped + 1}
				} else if check(s, a, loss, good); want.Good == 2000 {
					want.Scale, want.Good = want.Scale*2, 0
				}
				if found := a.Found.Item(); found != 0 == finite {
					t.Fatalf("update %d: found %v", i, found)
				}
				if v := a.Scale.Item(); v != want.Scale {
					t.Fatalf("update %d: scale %v, want %v", i, v, want.Scale)
				}
				if a.Full() {
					state, updates := a.Read()
					if state != want || len(updates) != 7 || a.Full() {
						t.Fatalf("update %d: %+v, want %+v", i, state, want)
					}
				}
			}
		}
	})
}

// TestForwardOverflow: a loss that is not finite says nothing of the scale, which stays, however often that comes, as does
// the number of good updates; the others are made.
func TestForwardOverflow(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		a := scaler(t, amp.Options{Scaled: true, Ring: 50})
		a.Restore(amp.State{Scale: 65536, Good: 1990})
		good := gradients(s, 1)
		losses := map[bool]*tensor.Tensor{false: s.Full(3, tensor.F32, tensor.CPU), true: s.Full(math.NaN(), tensor.F32, tensor.CPU)}
		for ring := range 6 {
			for i := range 50 {
				check(s, a, losses[i%5 > 0], good)
			}
			state, updates := a.Read()
			if want := (amp.State{Scale: 131072, Good: 10 * ring, Skipped: int64(40 * (ring + 1))}); state != want {
				t.Errorf("%+v, want %+v", state, want)
			}
			for i, u := range updates {
				testkit.Is(t, u.Left, i%5 > 0, i, u)
			}
		}
	})
}

func TestLossesAndFlags(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		for _, scaled := range []bool{true, false} {
			a := scaler(t, amp.Options{Scaled: scaled, Ring: 5})
			var want []amp.Update
			for i, of := range []struct{ loss, gradient float64 }{{1, 1}, {math.Inf(1), 1}, {2.5, 1}, {3, math.NaN()}, {4, 1}} {
				grads := gradients(s, of.gradient)
				bad := i == 1 || i == 3
				if !scaled { // the first bad one is the last
					bad = i >= 1
				}
				check(s, a, s.Full(of.loss, tensor.F32, tensor.CPU), grads)
				want = append(want, amp.Update{Loss: of.loss, Left: bad})
			}
			for _, f := range map[string]func(){"Slot": func() { a.Slot() }, "Checked": a.Checked} {
				testkit.ErrSays(t, tensor.Try(f), "5 updates were not read")
			}
			state, got := a.Read()
			testkit.Deep(t, got, want, "scaled", scaled)
			if scaled && state.Skipped != 2 || !scaled && state.Skipped != 4 {
				t.Errorf("scaled %v: %+v", scaled, state)
			}
			check(s, a, s.Zeros(tensor.F32, tensor.CPU), gradients(s, 1))
			if _, again := a.Read(); len(again) != 1 || again[0].Left == scaled {
				t.Errorf("scaled %v: after a read %v", scaled, again)
			}
		}
	})
}

// TestOneSlot: what says where an outcome is kept is a number of the device, whose value changes from
// update to update; all else of a check is the same call. Where bad ones are, and how large the
// gradients were, stand in the same two tensors.
func TestOneSlot(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		a := scaler(t, amp.Options{Scaled: true, ClipNorm: 1, Ring: 3})
		a.Restore(amp.State{Scale: 8})
		slot, loss := s.Zeros(tensor.I64, tensor.CPU, 1), s.Zeros(tensor.F32, tensor.CPU)
		grads := []*tensor.Tensor{s.Zeros(tensor.F32, tensor.CPU, 4)}
		found, divisor := a.Found, a.Divisor
		for round := range 2 {
			var want []amp.Update
			for i, gradient := range []float64{40, math.NaN(), 80} {
				if n := a.Slot(); n != int64(i) {
					t.Fatalf("update %d has slot %d", i, n)
				}
				s.FillInPlace(slot, float64(a.Slot()))
				s.FillInPlace(loss, float64(10*round+i))
				s.FillInPlace(grads[0], gradient)
				a.Check(loss, grads, slot)
				testkit.Is(t, a.Slot(), int64(i))
				a.Checked()
				bad := math.IsNaN(gradient)
				want = append(want, amp.Update{Loss: float64(10*round + i), Left: bad})
				if a.Found != found || a.Divisor != divisor || found.Item() != 0 != bad {
					t.Errorf("update %d: found %v", i, found.Item())
				}
				if v := divisor.Item(); !bad && math.Abs(v-2*gradient) > 1e-4 { // the norm of four
					t.Errorf("update %d: the divisor is %v", i, v)
				}
			}
			if _, got := a.Read(); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// TestDivisor: it is the scale, divided by what clip_grad_norm_ multiplies with.
func TestDivisor(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		norm := 0.0
		grads := gradients(s, 30)
		for _, g := range grads {
			norm += s.SquareSum(g)
		}
		norm = math.Sqrt(norm)
		for _, c := range []struct {
			scaled     bool
			clip, want float64
		}{
			{false, 0, 0},
			{true, 0, 1024},
			{false, 2, (norm + 1e-6) / 2},
			{false, 100, 1},
			{true, 0.01, 1024 * (norm/1024 + 1e-6) / 0.01},
			{true, 2, 1024},
		} {
			a := scaler(t, amp.Options{Scaled: c.scaled, ClipNorm: c.clip, Ring: 1})
			a.Restore(amp.State{Scale: 1024})
			check(s, a, s.Full(1, tensor.F32, tensor.CPU), grads)
			if c.want == 0 {
				if a.Divisor != nil {
					t.Errorf("%+v: a divisor", c)
				}
				continue
			}
			if v := a.Divisor.Item(); math.Abs(v-c.want) > 1e-6*c.want {
				t.Errorf("%+v: %v", c, v)
			}
			if (a.Scale != nil) != c.scaled {
				t.Errorf("%+v: scale %v", c, a.Scale)
			}
			if state, _ := a.Read(); state.Scale != 1024 {
				t.Errorf("%+v: %+v", c, state)
			}
		}
	})
}

func TestMistakes(t *testing.T) {
	for _, o := range []amp.Options{{}, {Ring: 1, ClipNorm: -1}, {Ring: 1, ClipNorm: math.NaN()}, {Ring: 1, ClipNorm: math.Inf(1)}} {
		testkit.Some(t, testkit.Err(amp.New(tensor.CPU, o)), o)
	}
	run(t, func(s *tensor.Scope) {
		a, slot := scaler(t, amp.Options{Ring: 2}), s.Zeros(tensor.I64, tensor.CPU, 1)
		for want, f := range map[string]func(){
			"one loss":      func() { a.Check(s.Zeros(tensor.F32, tensor.CPU, 2), gradients(s, 1), slot) },
			"has gradients": func() { a.Check(s.Zeros(tensor.F32, tensor.CPU), nil, slot) },
			"nil":           func() { a.Check(nil, gradients(s, 1), slot) },
			"the slot is CPUFloatType[1] on cpu; it must be Long[1] on cpu": func() {
				a.Check(s.Zeros(tensor.F32, tensor.CPU), gradients(s, 1), s.Zeros(tensor.F32, tensor.CPU, 1))
			},
			"the slot is CPULongType[2]": func() {
				a.Check(s.Zeros(tensor.F32, tensor.CPU), gradients(s, 1), s.Zeros(tensor.I64, tensor.CPU, 2))
			},
		} {
			testkit.ErrSays(t, tensor.Try(f), want)
		}
	})
}
