package tensor

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func run(t *testing.T, f func(*Scope)) {
	t.Helper()
	before := Live()
	testkit.None(t, Run(f))
	if n := Live(); n != before {
		t.Fatalf("%d tensors live after the scope closed, %d before", n, before)
	}
}

func TestScopesFree(t *testing.T) {
	run(t, func(s *Scope) {
		a := s.FromFloat32s([]float32{1, 2, 3, 4}, CPU, 2, 2)
		var kept *Tensor
		Within(func(inner *Scope) {
			kept = s.Move(inner.MatMul(a, inner.Add(a, a)))
		})
		if got := kept.Float32s(); got[0] != 14 || got[3] != 44 {
			t.Errorf("a·2a = %v", got)
		}
		b := s.Alias(kept)
		Free(kept, kept)
		testkit.Is(t, b.Dim(-1), 2, b)
		testkit.Is(t, len(s.tensors), 2, b)
	})
}

func TestErrorsNameOperationAndShapes(t *testing.T) {
	before := Live()
	for name, f := range map[string]func(s *Scope, a, b *Tensor){
		"MatMul(F32[2 3], F32[2 3])": func(s *Scope, a, b *Tensor) { s.MatMul(a, b) },
		"freed":                      func(s *Scope, a, b *Tensor) { Free(a); s.Add(a, b) },
		"operand is nil":             func(s *Scope, a, b *Tensor) { s.Add(a, nil) },
		"do not fill":                func(s *Scope, a, b *Tensor) { s.FromInt64s([]int64{1}, CPU, 2) },
		"you tried to allocate":      func(s *Scope, a, b *Tensor) { s.Empty(F32, CPU, 1<<30, 1<<20) },
		"Item":                       func(s *Scope, a, b *Tensor) { a.Item() },
		"RMSNorm(":                   func(s *Scope, a, b *Tensor) { s.RMSNorm(a, b, 1e-6) },
		"AddInPlace(":                func(s *Scope, a, b *Tensor) { s.AddInPlace(a, s.Zeros(F32, CPU, 7)) },
	} {
		err := Run(func(s *Scope) { f(s, s.Zeros(F32, CPU, 2, 3), s.Zeros(F32, CPU, 2, 3)) })
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "frame #") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	testkit.Is(t, Live(), before, Live()-before)
}

func TestGradients(t *testing.T) {
	run(t, func(s *Scope) {
		x := s.FromFloat32s([]float32{1, 2, 3}, CPU, 3)
		unused := s.Zeros(F32, CPU, 2)
		s.Leaf(x)
		s.Leaf(unused)
		grads := s.Gradients(s.Sum(s.Mul(x, x)), []*Tensor{x, unused})
		if g := grads[0].Float32s(); g[2] != 6 {
			t.Errorf("d(x²) = %v", g)
		}
		if grads[1] != nil {
			t.Errorf("a leaf that the loss does not use has gradient %v", grads[1])
		}
		NoGrad(func() {
			if s.Mul(x, x).RequiresGrad() {
				t.Error("recorded under NoGrad")
			}
		})
		if !s.Mul(x, x).RequiresGrad() {
			t.Error("NoGrad did not end")
		}
	})
}

func near(t *testing.T, name string, got, want *Tensor, tolerance float64) {
	t.Helper()
	a, b := got.Float32s(), want.Float32s()
	if len(a) != len(b) {
		t.Fatalf("%s: %v against %v", name, got, want)
	}
	scale, worst := 1e-30, 0.0
	for i := range a {
		scale = max(scale, math.Abs(float64(b[i])))
		worst = max(worst, math.Abs(float64(a[i])-float64(b[i])))
	}
	if math.IsNaN(worst) || worst > tolerance*max(scale, 1) {
		t.Errorf("%s: largest difference %g, largest value %g", name, worst, scale)
	}
}

func TestDropout(t *testing.T) {
	run(t, func(s *Scope) {
		const n = 200_000
		x := s.Full(1, F32, CPU, n)
		s.Leaf(x)
		rng := RNG{Seed: 7}
		again := rng
		y := s.Dropout(x, 0.1, &rng)
		kept := 0
		for _, v := range y.Float32s() {
			switch {
			case v == 0:
			case math.Abs(float64(v)-1/0.9) < 1e-6:
				kept++
			default:
				t.Fatalf("value %g", v)
			}
		}
		if p := float64(kept) / n; math.Abs(p-0.9) > 0.003 {
			t.Errorf("kept %.4f of the elements, want 0.9", p)
		}
		near(t, "mask of the gradient", s.Gradients(s.Sum(y), []*Tensor{x})[0], y, 0)
		SetNumThreads(1)
		near(t, "same state, other threads", s.Dropout(x, 0.1, &again), y, 0)
		SetNumThreads(2)
		if other := s.Dropout(x, 0.1, &rng); s.Equal(other, y).Numel() == 0 || rng == again {
			t.Error("the state did not advance")
		}
		testkit.Is(t, s.Dropout(x, 0, &rng), x, "p = 0 is not the identity")
	})
}

func TestNormalNumbers(t *testing.T) {
	run(t, func(s *Scope) {
		v := s.Normal(&RNG{Seed: 3}, 1, 2, 100_001).Float32s()
		var sum, square float64
		for _, x := range v {
			sum += float64(x)
			square += float64(x) * float64(x)
		}
		mean := sum / float64(len(v))
		if sd := math.Sqrt(square/float64(len(v)) - mean*mean); math.Abs(mean-1) > 0.03 || math.Abs(sd-2) > 0.03 {
			t.Errorf("mean %g, deviation %g", mean, sd)
		}
	})
}

func TestNames(t *testing.T) {
	for name, want := range map[string]DType{"fp32": F32, "BF16": BF16, "float16": F16} {
		testkit.Of(t, want, name)(ParseDType(name))
	}
	for _, name := range []string{"tpu", "cuda:x", "cuda0", "cuda:99"} {
		testkit.Some(t, testkit.Err(ParseDevice(name)), name)
	}
	testkit.Some(t, testkit.Err(ParseDType("fp8")), "fp8 was accepted")
}

// TestNumThreads: the number is the process's, on whichever OS thread it is asked for, also one that computed under another.
func TestNumThreads(t *testing.T) {
	defer SetNumThreads(2)
	ask, got := make(chan int), make(chan int)
	for range 4 {
		go func() {
			runtime.LockOSThread() // not given back: a new one for each
			for range ask {
				_ = Run(func(*Scope) { got <- NumThreads() }) // no error: it computes nothing
			}
		}()
	}
	for _, n := range []int{2, 3, 1} {
		SetNumThreads(n)
		for range 4 {
			ask <- n
		}
		for range 4 {
			testkit.Is(t, <-got, n)
		}
	}
	close(ask)
}

// TestGradientsOfNothing: of what was computed without recording operations there are no gradients.
func TestGradientsOfNothing(t *testing.T) {
	testkit.ErrSays(t, Run(func(s *Scope) {
		x := s.Full(2, F32, CPU, 3)
		s.Leaf(x)
		var loss *Tensor
		NoGrad(func() { loss = s.Sum(x) })
		s.Gradients(loss, []*Tensor{x})
	}), "was computed without recording operations")
}
