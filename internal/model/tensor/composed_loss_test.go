package tensor

import (
	"fmt"
	"math"
	"testing"
)

// TestHeadSlices: the head's loss on a card against the CPU's, with and without smoothing, with
// labels left out, in one slice and in several.
func TestHeadSlices(t *testing.T) {
	for _, c := range []struct {
		n, vocabulary int64
		dtype         DType
		smooth        float64
		scale         float64
	}{
		{37, 301, F32, 0, 1}, {37, 301, F32, 0.1, 8}, {1, 301, F32, 0, 1},
		{37, 301, F16, 0, 65536}, {37, 301, BF16, 0.1, 1},
		{11, 1 << 28 / 8 / 15, F32, 0.1, 1}, {11, 1 << 28 / 10 / 15, F16, 0, 1024}, // slices of 8 rows and of 3: 15 would fit, in 256 MiB
	} {
		d := int64(8)
		if c.vocabulary > 1000 {
			d = 2 // half precision is slow on a CPU
		}
		labels := make([]int64, c.n)
		for i := range labels {
			if labels[i] = int64(i*7919) % c.vocabulary; i%5 == 3 {
				labels[i] = -100
			}
		}
		cpu, card := onBoth(t, func(s *Scope, card bool) map[string]*Tensor {
			rng := &RNG{Seed: 2}
			h, w := s.ToDType(s.Normal(rng, 0, 1, c.n, d), c.dtype), s.ToDType(s.Normal(rng, 0, 1, c.vocabulary, d), c.dtype)
			if !card {
				h, w = s.ToDType(h, F32), s.ToDType(w, F32)
			}
			s.Leaf(h)
			s.Leaf(w)
			o := HeadOptions{}
			if c.scale != 1 {
				o.Scale = s.Full(c.scale, F32, CPU)
			}
			loss := s.HeadLoss(h, w, s.FromInt64s(labels, CPU, c.n), -100, c.smooth, o)
			grads := s.Gradients(s.Scale(loss, 0.5), []*Tensor{h, w})
			if !card { // where nothing is the last one's alone
				twice := func(x *Tensor) *Tensor { return s.Scale(x, 2) }
				return map[string]*Tensor{"loss": loss, "dh": grads[0], "dw": grads[1], "last dh": twice(grads[0]), "last dw": twice(grads[1])}
			}
			o.Last = true
			last := s.Gradients(s.HeadLoss(h, w, s.FromInt64s(labels, CPU, c.n), -100, c.smooth, o), []*Tensor{h, w})
			return map[string]*Tensor{"loss": loss, "dh": grads[0], "dw": grads[1], "last dh": last[0], "last dw": last[1]}
		})
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			tolerance := tolerances[c.dtype]
			if c.vocabulary > 1000 { // sums of two million products, of which float32 has no more: on an AMD EPYC two orders are 6e-3 apart
				tolerance = max(tolerance, 1e-2)
			}
			alikeAll(t, card, cpu, tolerance)
		})
	}
	defer Emulate()()
	run(t, func(s *Scope) {
		h, w := s.Zeros(F32, CPU, 3, 4), s.Zeros(F32, CPU, 5, 4)
		if loss := s.HeadLoss(h, w, s.Full(-100, I64, CPU, 3), -100, 0, HeadOptions{}).Item(); !math.IsNaN(loss) {
			t.Errorf("loss %g of no labels, transformers' is NaN", loss)
		}
	})
}

// TestHeadScale: gradients that F16 has no numbers for are there with a scale.
func TestHeadScale(t *testing.T) {
	defer Emulate()()
	run(t, func(s *Scope) {
		rng := &RNG{Seed: 2}
		h, w := s.ToDType(s.Normal(rng, 0, 1e-3, 4096, 8), F16), s.ToDType(s.Normal(rng, 0, 1e-3, 300, 8), F16)
		s.Leaf(h)
		s.Leaf(w)
		labels := s.Full(7, I64, CPU, 4096)
		lost := func(o HeadOptions, after float64) float64 {
			loss := s.HeadLoss(h, w, labels, -100, 0, o)
			return s.Sum(s.ToDType(s.Square(s.ToDType(s.Gradients(s.Scale(loss, after), []*Tensor{h})[0], F32)), F64)).Item()
		}
		with, without := lost(HeadOptions{Scale: s.Full(65536, F32, CPU)}, 1), lost(HeadOptions{}, 65536)
		if with == 0 || math.Abs(without/with-1) < 0.05 {
			t.Errorf("squares %g with the scale, %g without: nothing is lost", with, without)
		}
	})
}

// TestHeadMemory: the atomic head of Base (32K words, 110K documents, width 768, a batch of 128)
// stays far below 16 GB, and slices of longer batches below their bound.
func TestHeadMemory(t *testing.T) {
	defer Emulate()()
	run(t, func(s *Scope) {
		const vocabulary = 142_128
		for _, c := range []struct {
			n, d  int64
			dtype DType
		}{{128, 768, F32}, {640, 16, F32}, {320, 8, F16}} {
			w, h := s.Zeros(c.dtype, CPU, vocabulary, c.d), s.Zeros(c.dtype, CPU, c.n, c.d)
			s.Leaf(w)
			s.Leaf(h)
			labels, scale := s.Full(7, I64, CPU, c.n), s.Full(65536, F32, CPU)
			counts := Count(func() {
				Within(func(s *Scope) {
					s.Gradients(s.HeadLoss(h, w, labels, -100, 0, HeadOptions{Scale: scale}), []*Tensor{h, w})
				})
			})
			gradient := vocabulary * c.d * int64(c.dtype.Size())
			if most := gradient + 2*(256<<20); counts.Peak < gradient || counts.Peak > most {
				t.Errorf("%+v: %d bytes at the most, want at most %d", c, counts.Peak, most)
			}
			if len(counts.Syncs) != 0 || counts.Uploads+counts.Downloads != 0 {
				t.Errorf("%+v: %+v", c, counts)
			}
			t.Logf("%+v: %d MB, %d launches", c, counts.Peak>>20, counts.Launches)
			Free(w)
		}
	})
}

// TestHeadLaunches: of one slice, forward and backward.
func TestHeadLaunches(t *testing.T) {
	defer Emulate()()
	run(t, func(s *Scope) {
		h, w := s.Zeros(F32, CPU, 16, 8), s.Zeros(F32, CPU, 100, 8)
		s.Leaf(h)
		s.Leaf(w)
		labels, scale := s.Full(7, I64, CPU, 16), s.Full(1, F32, CPU)
		var loss *Tensor
		forward := Count(func() { loss = s.HeadLoss(h, w, labels, -100, 0, HeadOptions{Scale: scale}) })
		backward := Count(func() { s.Gradients(loss, []*Tensor{h, w}) })
		last := s.HeadLoss(h, w, labels, -100, 0, HeadOptions{Scale: scale, Last: true})
		if n := Count(func() { s.Gradients(last, []*Tensor{h, w}) }); n.Launches != n.Operators["fill_"] {
			t.Errorf("gradients of a last one: %+v", n)
		}
		if forward.Launches != 17 || backward.Launches-backward.Operators["fill_"] != 2 || len(forward.Syncs)+len(backward.Syncs) != 0 {
			t.Errorf("%+v\n%+v", forward, backward)
		}
	})
}

// TestComposedPointwise: norms, dropout of probability 0, sums of rows, biases of positions.
func TestComposedPointwise(t *testing.T) {
	for _, dtype := range []DType{F32, BF16} {
		cpu, card := onBoth(t, func(s *Scope, card bool) map[string]*Tensor {
			rng := &RNG{Seed: 2}
			leaf := func(mean float64, shape ...int64) *Tensor {
				x := s.ToDType(s.Normal(rng, mean, 1, shape...), dtype)
				if !card {
					x = s.ToDType(x, F32)
				}
				s.Leaf(x)
				return x
			}
			x, r, w, table := leaf(0, 30, 16), leaf(0, 30, 16), leaf(1, 16), s.Normal(rng, 0, 1, 32, 4)
			s.Leaf(table) // a parameter: float32
			g, gBias := s.Normal(rng, 0, 1, 30, 16), s.Normal(rng, 0, 1, 4, 21, 21)
			out := map[string]*Tensor{
				"norm": s.RMSNorm(x, w, 1e-6), "add": s.AddDropout(r, x, 0, rng), "relu": s.ReluDropout(x, 0, rng),
				"bias":      s.RelativeBias(table, 21, Buckets{Number: 32, MaxDistance: 128, Both: true}),
				"bias back": s.RelativeBias(table, 21, Buckets{Number: 32, MaxDistance: 20}),
			}
			for name, leaves := range map[string][]*Tensor{"norm": {x, w}, "add": {x, r}, "relu": {x}, "bias": {table}, "bias back": {table}} {
				of := g
				if leaves[0] == table {
					of = gBias
				}
				for i, d := range s.Gradients(s.Sum(s.Mul(s.ToDType(out[name], F32), of)), leaves) {
					out[fmt.Sprint(name, " gradient ", i)] = d
				}
			}
			sums := s.Zeros(F32, CPU, 6, 16)
			s.AddRowsInPlace(sums, s.FromInt64s([]int64{4, 0, 4}, CPU, 3), s.Narrow(s.Detach(x), 0, 0, 3))
			out["rows"] = sums
			return out
		})
		alikeAll(t, card, cpu, tolerances[dtype])
	}
}

// TestComposedDropout: as many numbers are left as should be, scaled; gradients follow the mask,
// which the seed draws.
func TestComposedDropout(t *testing.T) {
	defer Emulate()()
	run(t, func(s *Scope) {
		x, zero := s.Full(2, F32, CPU, 500, 200), s.Zeros(F32, CPU, 500, 200)
		s.Leaf(x)
		for name, f := range map[string]func(seed uint64) *Tensor{
			"Dropout":     func(uint64) *Tensor { return s.Dropout(x, 0.25, &RNG{}) },
			"AddDropout":  func(uint64) *Tensor { return s.AddDropout(zero, x, 0.25, &RNG{}) },
			"ReluDropout": func(uint64) *Tensor { return s.ReluDropout(x, 0.25, &RNG{}) },
		} {
			seeded := func(seed uint64) *Tensor {
				SeedDevice(CUDA(0), &RNG{Seed: seed})
				return f(seed)
			}
			y := seeded(1)
			grad := s.Gradients(s.Sum(y), []*Tensor{x})[0].Float32s()
			left := 0
			for i, v := range y.Float32s() {
				if v != 0 {
					left++
				}
				if math.Abs(float64(v-2*grad[i])) > 1e-6 || v != 0 && math.Abs(float64(v)-2/0.75) > 1e-6 {
					t.Fatalf("%s: %g, gradient %g", name, v, grad[i])
				}
			}
			if share := float64(left) / 1e5; math.Abs(share-0.75) > 0.01 {
				t.Errorf("%s: %g are left", name, share)
			}
			if same := seeded(1).Float32s(); fmt.Sprint(same) != fmt.Sprint(y.Float32s()) {
				t.Errorf("%s: the same seed draws another mask", name)
			}
			if other := seeded(2).Float32s(); fmt.Sprint(other) == fmt.Sprint(y.Float32s()) {
				t.Errorf("%s: another seed draws the same mask", name)
			}
		}
	})
}

// TestPointwiseLaunches: forward and backward.
func TestPointwiseLaunches(t *testing.T) {
	defer Emulate()()
	run(t, func(s *Scope) {
		rng := &RNG{Seed: 2}
		x, r, w, table := s.Normal(rng, 0, 1, 30, 16), s.Normal(rng, 0, 1, 30, 16), s.Normal(rng, 1, 1, 16), s.Normal(rng, 0, 1, 32, 4)
		for _, l := range []*Tensor{x, r, w, table} {
			s.Leaf(l)
		}
		distances := s.Upload(CUDA(0), Buckets{Number: 32, MaxDistance: 128, Both: true}.Distances(21))[0]
		for _, c := range []struct {
			name              string
			f                 func() *Tensor
			leaves            []*Tensor
			forward, backward int64
		}{
			{"RMSNorm", func() *Tensor { return s.RMSNorm(x, w, 1e-6) }, []*Tensor{x, w}, 1, 1},
			{"Dropout", func() *Tensor { return s.Dropout(x, 0.1, rng) }, []*Tensor{x}, 1, 1},
			{"AddDropout", func() *Tensor { return s.AddDropout(r, x, 0.1, rng) }, []*Tensor{x, r}, 2, 1},
			{"ReluDropout", func() *Tensor { return s.ReluDropout(x, 0.1, rng) }, []*Tensor{x}, 2, 2},
			{"RelativeBias", func() *Tensor { return s.RelativeBiasOf(table, 21, distances) }, []*Tensor{table}, 2, 1},
		} {
			var y *Tensor
			forward := Count(func() { y = c.f() })
			sum := s.Sum(s.Mul(y, y)) // of a sum alone the gradient would be one number
			backward := Count(func() { s.Gradients(sum, c.leaves) })
			own := backward.Launches - 4 // the gradient of the sum, its products with y, and their sum
			if forward.Launches != c.forward || own != c.backward || len(forward.Syncs)+len(backward.Syncs) != 0 {
				t.Errorf("%s: %d and %d launches, want %d and %d: %v, %v", c.name, forward.Launches, own, c.forward, c.backward, forward.Operators, backward.Operators)
			}
		}
	})
}
