package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/ranking/topk"
)

// number draws a number of a vector of some kind.
var number = map[string]func(r *rand.Rand, row, col int) float64{
	"normal":      func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() },
	"in common":   func(r *rand.Rand, _, col int) float64 { return 5*math.Sin(float64(col*col)) + r.NormFloat64() },
	"zeros":       func(r *rand.Rand, row, _ int) float64 { return float64(row%3) * float64(r.IntN(3)-1) },
	"denormal":    func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() * 0x1p-140 },
	"underflow":   func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() * 0x1p-73 },
	"overflow":    func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() * 0x1.1p62 },
	"all sizes":   func(r *rand.Rand, row, _ int) float64 { return math.Ldexp(r.NormFloat64(), row%100-60) },
	"one outlies": func(r *rand.Rand, _, col int) float64 { return r.NormFloat64() * []float64{1, 1000}[max(0, 1-col)] },
	"equal":       func(_ *rand.Rand, _, col int) float64 { return 1 / float64(col+1) },
	"near ties": func(r *rand.Rand, row, col int) float64 {
		v := math.Float32bits(float32(math.Sin(float64(col+1)*float64(row%7+1)))) + uint32(r.IntN(3))
		return float64(math.Float32frombits(v))
	},
}

func drawnBy(f func(*rand.Rand, int, int) float64, seed uint64, rows, cols int) npy.Matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	m := npy.Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = float32(f(r, i/cols, i%cols))
	}
	return m
}

// TestBounds: bounds leave every hit as it is without them, to the bit, whatever the vectors.
func TestBounds(t *testing.T) {
	kernel := notBelow
	if kernel == nil {
		t.Log("this processor has no AVX512-VNNI: nothing is bounded here")
		return
	}
	defer func() { notBelow = kernel }()
	for kind, f := range number {
		for _, cols := range []int{1, 13, 72} {
			documents, queries := drawnBy(f, 1, block+span+97, cols), drawnBy(f, 2, manyQueries+3, cols)
			for _, o := range []Options{{Depth: 1}, {Depth: 30}, {Depth: 30, Cosine: true}} {
				notBelow = nil
				want := find(t, documents, queries, o)
				notBelow = kernel
				for q, hits := range find(t, documents, queries, o) {
					if !slices.Equal(hits, want[q]) {
						i := slices.IndexFunc(hits, func(h topk.Hit) bool { return !slices.Contains(want[q], h) })
						t.Fatalf("%s, %d columns, %+v, query %d, hit %d:\n%v\nwithout bounds:\n%v", kind, cols, o, q, i, hits, want[q])
					}
				}
			}
		}
	}
}

// TestNotBelow compares sums of bytes with those in Go.
func TestNotBelow(t *testing.T) {
	if notBelow == nil {
		t.Log("this processor has no AVX512-VNNI")
		return
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, steps := range []int{1, 2, 7, 128, manyColumns/4 - 1} {
		documents, queries := make([]byte, steps*strip*4), make([]byte, steps*kmeans.Group*4)
		for i := range documents {
			documents[i] = byte(255 - r.IntN(2)*r.IntN(256))
		}
		for i := range queries {
			queries[i] = byte(127 - r.IntN(2)*r.IntN(255))
		}
		var low [kmeans.Group]int32
		var sums [kmeans.Group][strip]int32
		for q := range sums {
			for d := range strip {
				for i := range 4 * steps {
					sums[q][d] += int32(documents[(i/4*strip+d)*4+i%4]) * int32(int8(queries[(i/4*kmeans.Group+q)*4+i%4]))
				}
			}
			low[q] = sums[q][q*11] // that one's bit is to be set, and half of the others' about
		}
		for q, bits := range notBelow(documents, queries, &low) {
			for d, sum := range sums[q] {
				if got := bits>>d&1 == 1; got != (sum >= low[q]) {
					t.Fatalf("%d steps, query %d, document %d: bit %v, sum %d, number %d", steps, q, d, got, sum, low[q])
				}
			}
		}
	}
}
