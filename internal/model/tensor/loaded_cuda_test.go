//go:build cuda

package tensor

import (
	"math"
	"testing"
)

// TestCardLoaded: on a machine with a card, a driver and what `make cuda` installs, this process computes on it.
func TestCardLoaded(t *testing.T) {
	c := Card()
	t.Logf("%+v", c)
	if !c.Loaded || c.Cards != CUDADevices() || len(c.Versions) == 0 || c.Versions[0] != "torch "+Version() {
		t.Fatalf("%+v, with %d cards and torch %s", c, CUDADevices(), Version())
	}
	if err := Run(func(s *Scope) {
		rng := &RNG{Seed: 5}
		a, b := s.Normal(rng, 0, 1, 100, 64), s.Normal(rng, 0, 1, 64, 80)
		want := s.MatMul(a, b).Float32s()
		for i, got := range s.MatMul(s.ToDevice(a, CUDA(0)), s.ToDevice(b, CUDA(0))).Float32s() {
			if math.Abs(float64(got-want[i])) > 1e-3 {
				t.Fatalf("%d: %g, on the CPU %g", i, got, want[i])
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if now, most, ok := CardMemory(0); !ok || most == 0 || now > most {
		t.Errorf("%d bytes now, %d at most", now, most)
	}
}
