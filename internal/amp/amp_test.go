//go:build !notorch

package amp_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/amp"
	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/train"
)

func scaler(t *testing.T, o amp.Options) *amp.Scaler {
	t.Helper()
	a, err := amp.New(tensor.CPU, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func run(t *testing.T, f func(*tensor.Scope)) {
	t.Helper()
	live := tensor.Live()
	t.Cleanup(func() { // after those of scalers
		if tensor.Live() != live {
			t.Errorf("%d tensors leaked", tensor.Live()-live)
		}
	})
	if err := tensor.Run(f); err != nil {
		t.Fatal(err)
	}
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

// TestScaleIsTheCPUs: the scale of any sequence of good and bad updates is train.Scaler's, from
// its states, over several reads.
func TestScaleIsTheCPUs(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		a := scaler(t, amp.Options{Scaled: true, Ring: 7})
		want := train.NewScaler()
		if state, updates := a.Read(); state != amp.Start() || state.Scale != want.Scale || updates != nil {
			t.Errorf("at first %+v, %v", state, updates)
		}
		good, bad := gradients(s, 1), gradients(s, math.Inf(-1))
		loss := s.Full(3, tensor.BF16, tensor.CPU)
		skipped := int64(0)
		for _, from := range []int{0, 1995} {
			want.Good = from
			a.Restore(amp.State{Scale: want.Scale, Good: from, Skipped: skipped})
			for i := range 40 {
				finite := i < 12 || i%9 != 0
				grads := good
				if !finite {
					grads, skipped = bad, skipped+1
				}
				a.Check(loss, grads)
				want.Update(finite)
				if found := a.Found().Item(); found != 0 == finite {
					t.Fatalf("update %d: found %v", i, found)
				}
				if v := a.Scale().Item(); v != want.Scale {
					t.Fatalf("update %d: scale %v, want %v", i, v, want.Scale)
				}
				if a.Full() {
					state, updates := a.Read()
					if state != (amp.State{Scale: want.Scale, Good: want.Good, Skipped: skipped}) || len(updates) != 7 || a.Full() {
						t.Fatalf("update %d: %+v, want %+v", i, state, want)
					}
				}
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
				a.Check(s.Full(of.loss, tensor.F32, tensor.CPU), grads)
				want = append(want, amp.Update{Loss: of.loss, Left: bad})
			}
			if err := tensor.Try(func() { a.Check(s.Zeros(tensor.F32, tensor.CPU), gradients(s, 1)) }); err == nil || !strings.Contains(err.Error(), "5 updates were not read") {
				t.Errorf("a sixth update: %v", err)
			}
			state, got := a.Read()
			if !slices.Equal(got, want) {
				t.Errorf("scaled %v: %v, want %v", scaled, got, want)
			}
			if scaled && state.Skipped != 2 || !scaled && state.Skipped != 4 {
				t.Errorf("scaled %v: %+v", scaled, state)
			}
			a.Check(s.Zeros(tensor.F32, tensor.CPU), gradients(s, 1))
			if _, again := a.Read(); len(again) != 1 || again[0].Left == scaled {
				t.Errorf("scaled %v: after a read %v", scaled, again)
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
			a.Check(s.Full(1, tensor.F32, tensor.CPU), grads)
			if c.want == 0 {
				if a.Divisor() != nil {
					t.Errorf("%+v: a divisor", c)
				}
				continue
			}
			if v := a.Divisor().Item(); math.Abs(v-c.want) > 1e-6*c.want {
				t.Errorf("%+v: %v", c, v)
			}
			if (a.Scale() != nil) != c.scaled {
				t.Errorf("%+v: scale %v", c, a.Scale())
			}
			if state, _ := a.Read(); state.Scale != 1024 {
				t.Errorf("%+v: %+v", c, state)
			}
		}
	})
}

func TestMistakes(t *testing.T) {
	for _, o := range []amp.Options{{}, {Ring: 1, ClipNorm: -1}, {Ring: 1, ClipNorm: math.NaN()}, {Ring: 1, ClipNorm: math.Inf(1)}} {
		if _, err := amp.New(tensor.CPU, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	run(t, func(s *tensor.Scope) {
		a := scaler(t, amp.Options{Ring: 2})
		for want, f := range map[string]func(){
			"one loss":      func() { a.Check(s.Zeros(tensor.F32, tensor.CPU, 2), gradients(s, 1)) },
			"has gradients": func() { a.Check(s.Zeros(tensor.F32, tensor.CPU), nil) },
			"nil":           func() { a.Check(nil, gradients(s, 1)) },
		} {
			if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	})
}
