package kernel

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// rounded8 are rows' whole numbers and scales.
func rounded8(x []float32, depth int) (whole []int64, scales []float32) {
	for row := range slices.Chunk(x, depth) {
		top := float32(0)
		for _, v := range row {
			top = max(top, float32(math.Abs(float64(v))))
		}
		scales = append(scales, top/127)
		for _, v := range row {
			if top == 0 {
				whole = append(whole, 0)
			} else {
				whole = append(whole, int64(math.RoundToEven(float64(v*(127/top)))))
			}
		}
	}
	return whole, scales
}

// TestInt8 holds every form of the kernel, on any number of threads, to the same bytes, the bytes of exact integers.
func TestInt8(t *testing.T) {
	for _, size := range []struct{ vocab, depth, rows int }{{1, 1, 1}, {5, 3, 7}, {32, 16, 8}, {129, 9, 12}, {1000, 257, 13}, {333, 1024, 41}} {
		for _, scale := range []float32{0, 1e-40, 0.1, 100} {
			weights, states := random(size.vocab*size.depth, 1), random(size.rows*size.depth, scale)
			if size.depth > 1 {
				clear(weights[:size.depth])
			}
			w, ws := rounded8(weights, size.depth)
			s, ss := rounded8(states, size.depth)
			if scale == 1e-40 {
				clear(ss)
				clear(s)
			}
			want := make([]float32, size.rows*size.vocab)
			for r := range size.rows {
				for v := range size.vocab {
					sum := int64(0)
					for k := range size.depth {
						sum += s[r*size.depth+k] * w[v*size.depth+k]
					}
					want[r*size.vocab+v] = float32(sum) * (ss[r] * ws[v])
				}
			}
			h := testkit.Value(PackInt8(weights, size.vocab, size.depth))(t)
			for kind := h.of; kind <= plain8; kind++ {
				h.of = kind
				for threads := range 3 {
					var l Logits
					testkit.None(t, h.scores(&l, states, threads, threads == 2))
					if !slices.Equal(l.Values, want) {
						t.Fatalf("%+v of scale %v: form %d on %d threads has other scores", size, scale, kind, threads)
					}
					for b := range Blocks(size.vocab) {
						if top := slices.Max(l.Values[b*Block : min((b+1)*Block, size.vocab)]); l.Maxima[b] != top {
							t.Errorf("%+v: maximum %d is %v, want %v", size, b, l.Maxima[b], top)
						}
					}
					var rows Rows
					rows.Set(states[:size.depth], size.depth, threads) // memory is used again
					rows.Set(states, size.depth, threads)
					out := make([]float32, len(want))
					if err := h.Product(out, &rows, nil, threads); err != nil || !slices.Equal(out, want) {
						t.Fatalf("%+v of scale %v: form %d on %d threads has other products, %v", size, scale, kind, threads, err)
					}
					testkit.None(t, h.Product(out, &rows, weights[:size.vocab], threads))
					for i, v := range want {
						if b := v + weights[i%size.vocab]; out[i] != b {
							t.Fatalf("%+v of scale %v: form %d on %d threads: %v with a bias, want %v", size, scale, kind, threads, out[i], b)
						}
					}
				}
			}
		}
	}
}

// TestInt8Extremes: the largest sums that there can be are exact.
func TestInt8Extremes(t *testing.T) {
	for _, sign := range []float32{1, -1} {
		const depth = deepest
		weights := slices.Repeat([]float32{127}, depth)
		states := slices.Repeat([]float32{127 * sign}, depth)
		h := testkit.Value(PackInt8(weights, 1, depth))(t)
		for kind := h.of; kind <= plain8; kind++ {
			h.of = kind
			var l Logits
			testkit.None(t, h.Scores(&l, states, 1))
			if want := float32(depth*127*127) * sign; l.Values[0] != want {
				t.Errorf("form %d: %v, want %v", kind, l.Values[0], want)
			}
		}
		if _, err := PackInt8(make([]float32, deepest+1), 1, deepest+1); err == nil {
			t.Error("a row of too many numbers was packed")
		}
	}
}

func TestInt8Mistakes(t *testing.T) {
	testkit.Some(t, testkit.Err(PackInt8(make([]float32, 7), 2, 4)), "too few weights were packed")
	h := testkit.Value(PackInt8(make([]float32, 8), 2, 4))(t)
	half := testkit.Value(Pack(make([]float32, 8), 2, 4, true))(t)
	var rows Rows
	rows.Set(make([]float32, 8), 4, 1)
	if h.Product(make([]float32, 3), &rows, nil, 1) == nil || half.Product(make([]float32, 4), &rows, nil, 1) == nil {
		t.Error("a product into another shape, or by a matrix of bf16")
	}
	rows.Set(make([]float32, 10), 5, 1)
	if h.Product(make([]float32, 4), &rows, nil, 1) == nil {
		t.Error("rows of another depth")
	}
}
