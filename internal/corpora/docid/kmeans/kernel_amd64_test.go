package kmeans

import (
	"math"
	"slices"
	"testing"
)

// TestAssemblyEqualsGo compares every kernel bit for bit.
func TestAssemblyEqualsGo(t *testing.T) {
	if !hasAVX2 {
		t.Log("this processor has no AVX2: only the Go kernels run here")
		return
	}
	t.Run("float32", func(t *testing.T) { testKernels(t, singleKernels()) })
	t.Run("float64", func(t *testing.T) { testKernels(t, doubleKernels()) })
}

func testKernels[T float](t *testing.T, fast kernels[T]) {
	rng, slow := newMersenne(1), inGo[T]()
	row := func(n int) []T {
		out := make([]T, n)
		for i := range out {
			out[i] = T((rng.float64() - 0.5) * math.Pow(10, float64(rng.Uint32()%7)-3))
		}
		return out
	}
	for _, chunks := range []int{1, 2, 3, 8, 64, 97} {
		n := chunks * lanesOf[T]()
		for range 20 {
			x0, x1, packed := row(n), row(n), row(n*group)
			var got, want pairDots[T]
			fast.dots(x0, x1, packed, &got)
			slow.dots(x0, x1, packed, &want)
			if got != want {
				t.Fatalf("dots of %d chunks: %v, in Go %v", chunks, got, want)
			}
			rows, numbers := row(5*n), [4]int{3, 0, 4, 3}
			var four, fourWant [4]T
			fast.four(rows, &numbers, packed[2*lanesOf[T]():], chunks, &four)
			slow.four(rows, &numbers, packed[2*lanesOf[T]():], chunks, &fourWant)
			if four != fourWant {
				t.Fatalf("four of %d chunks: %v, in Go %v", chunks, four, fourWant)
			}
			sumGot, sumWant := slices.Clone(x1), slices.Clone(x1)
			fast.addRow(sumGot, x0)
			slow.addRow(sumWant, x0)
			if !slices.Equal(sumGot, sumWant) {
				t.Fatalf("addRow of %d chunks differs", chunks)
			}
			rowGot, rowWant := slices.Clone(x0), slices.Clone(x0)
			normGot := fast.centreRow(rowGot, x1)
			normWant := slow.centreRow(rowWant, x1)
			if normGot != normWant || !slices.Equal(rowGot, rowWant) {
				t.Fatalf("centreRow of %d chunks: %v, in Go %v", chunks, normGot, normWant)
			}
		}
	}
}
