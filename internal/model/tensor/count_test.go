package tensor

import (
	"maps"
	"slices"
	"testing"
)

// TestCount: kernels, transfers, waiting, products and memory of known operations.
func TestCount(t *testing.T) {
	defer Emulate()()
	err := Run(func(s *Scope) {
		card := CUDA(0)
		x, w := s.Zeros(F32, card, 8, 16), s.Zeros(F32, card, 32, 16)
		s.Leaf(w)
		before := s.Zeros(F32, card, 1000) // freed inside: it was there before
		c := Count(func() {
			Within(func(s *Scope) {
				ids := s.Upload(card, []int64{1, 2, 3}, []int64{0, 5})
				rows := s.IndexSelect(x, 0, ids[1])
				y := s.Linear(rows, w)       // [2, 32]
				view := s.Transpose(y, 0, 1) // no kernel
				loss := s.Sum(s.Square(view))
				g := s.Gradients(loss, []*Tensor{w})
				g[0].Float32s()
				loss.Item()
				Free(before)
			})
		})
		want := map[string]int64{"index_select": 1, "mm": 2, "pow": 2, "sum": 1, "fill_": 1, "mul": 2} // d(y²) is 2y by another pow and two mul
		t.Logf("%+v", c)
		if !maps.Equal(c.Operators, want) {
			t.Errorf("kernels %v, want %v", c.Operators, want)
		}
		if c.Uploads != 1 || c.UploadBytes != 5*8 || c.Downloads != 1 || c.DownloadBytes != 32*16*4 || c.Syncs["_local_scalar_dense"] != 1 {
			t.Errorf("%+v", c)
		}
		if want := int64(2 * 2 * 32 * 16 * 2); c.Flops != want {
			t.Errorf("%d flops, want %d", c.Flops, want)
		}
		if least := int64(2*32*4 + 32*16*4); c.Peak < least || c.Peak > 3*least {
			t.Errorf("peak %d", c.Peak)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEmulatedPath: the composed path gives what the CPU's own operations give.
func TestEmulatedPath(t *testing.T) {
	both := func(f func(s *Scope) []float32) (own, composed []float32) {
		if err := Run(func(s *Scope) { own = f(s) }); err != nil {
			t.Fatal(err)
		}
		defer Emulate()()
		if err := Run(func(s *Scope) { composed = f(s) }); err != nil {
			t.Fatal(err)
		}
		return own, composed
	}
	own, composed := both(func(s *Scope) []float32 {
		rng := &RNG{Seed: 3}
		return s.RMSNorm(s.Normal(rng, 0, 1, 5, 8), s.Normal(rng, 0, 1, 8), 1e-6).Float32s()
	})
	for i := range own {
		if d := own[i] - composed[i]; d > 1e-5 || d < -1e-5 {
			t.Errorf("%d: %g, %g", i, own[i], composed[i])
		}
	}
	if CUDADevices() != 0 && !CUDA(0).IsCUDA() {
		t.Error("the emulation went on")
	}
}

// TestCountCuts: lists that CUDA cuts, and its second kernels.
func TestCountCuts(t *testing.T) {
	defer Emulate()()
	err := Run(func(s *Scope) {
		card := CUDA(0)
		of := func(n int, t *Tensor) []*Tensor { return slices.Repeat([]*Tensor{t}, n) }
		x, wide, double := s.Zeros(F32, card, 2, 3), s.Zeros(F32, card, 3, 2), s.Zeros(F64, card, 1, 3)
		for _, c := range []struct {
			name string
			want map[string]int64
			f    func()
		}{
			{"cat of 128", map[string]int64{"cat": 1}, func() { s.Cat(0, of(128, x)...) }},
			{"cat of 129", map[string]int64{"cat": 2}, func() { s.Cat(0, of(129, x)...) }},
			{"cat of 64 that are not contiguous", map[string]int64{"cat": 1}, func() { s.Cat(0, of(64, s.Transpose(wide, 0, 1))...) }},
			{"cat of 65 that are not contiguous", map[string]int64{"cat": 2}, func() { s.Cat(0, of(65, s.Transpose(wide, 0, 1))...) }},
			{"cat of two types", map[string]int64{"cat": 3}, func() { s.Cat(0, append(of(2, x), double)...) }},
		} {
			got := Count(c.f).Operators
			if !maps.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
