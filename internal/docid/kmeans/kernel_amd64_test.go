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
	rng := newMersenne(1)
	row := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32((rng.float64() - 0.5) * math.Pow(10, float64(rng.Uint32()%7)-3))
		}
		return out
	}
	for _, chunks := range []int{1, 2, 3, 8, 64, 97} {
		n := chunks * lanes
		for range 20 {
			x0, x1, packed := row(n), row(n), row(n*group)
			var got, want pairDots
			dotsAVX2(&x0[0], &x1[0], &packed[0], chunks, &got)
			dotsGeneric(x0, x1, packed, &want)
			if got != want {
				t.Fatalf("dots of %d chunks: %v, in Go %v", chunks, got, want)
			}
			sumGot, sumWant := slices.Clone(x1), slices.Clone(x1)
			addRowAVX2(&sumGot[0], &x0[0], chunks)
			addRowGeneric(sumWant, x0)
			if !slices.Equal(sumGot, sumWant) {
				t.Fatalf("addRow of %d chunks differs", chunks)
			}
			rowGot, rowWant := slices.Clone(x0), slices.Clone(x0)
			normGot := centreRowAVX2(&rowGot[0], &x1[0], chunks)
			normWant := centreRowGeneric(rowWant, x1)
			if normGot != normWant || !slices.Equal(rowGot, rowWant) {
				t.Fatalf("centreRow of %d chunks: %v, in Go %v", chunks, normGot, normWant)
			}
		}
	}
}
