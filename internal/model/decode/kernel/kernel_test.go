package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func random(n int, scale float32) []float32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64()) * scale
	}
	return out
}

func scores(t testing.TB, weights, states []float32, vocab, depth, threads int, half bool) *Logits {
	t.Helper()
	h := testkit.Value(Pack(weights, vocab, depth, half))(t)
	var l Logits
	testkit.None(t, h.Scores(&l, states, threads))
	return &l
}

// rounded are numbers that bfloat16 has.
func rounded(numbers []float32) []float32 {
	for i, x := range numbers {
		numbers[i] = math.Float32frombits(round(x) << 16)
	}
	return numbers
}

func TestScores(t *testing.T) {
	testScores(t, false)
	testScores(t, true)
}

// TestRound: to the nearest, the even one of two.
func TestRound(t *testing.T) {
	for x, want := range map[float32]float32{1: 1, 1 + 1.0/256: 1, 1 + 3.0/256: 1 + 4.0/256, 1 + 1.01/256: 1 + 2.0/256, -3.5: -3.5, math.MaxFloat32: float32(math.Inf(1)), float32(math.Inf(-1)): float32(math.Inf(-1))} {
		testkit.Is(t, rounded([]float32{x})[0], want, x)
	}
	if got := rounded([]float32{float32(math.NaN())})[0]; got == got {
		t.Errorf("NaN is rounded to %v", got)
	}
}

// TestWidened: processors with and without the instruction give the same scores but for the order of sums.
func TestWidened(t *testing.T) {
	const rows, vocab, depth = 13, 1000, 33
	h := testkit.Value(Pack(random(vocab*depth, 1), vocab, depth, true))(t)
	var l, other Logits
	testkit.None(t, h.Scores(&l, random(rows*depth, 1), 2))
	h.of = widened
	testkit.None(t, h.Scores(&other, random(rows*depth, 1), 2))
	for i, x := range l.Values {
		if math.Abs(float64(x-other.Values[i])) > 1e-4 {
			t.Fatalf("score %d is %v, widened %v", i, x, other.Values[i])
		}
	}
}

// testScores compares with sums in float64, of rounded numbers if half is set.
func testScores(t *testing.T, half bool) {
	t.Helper()
	for _, size := range []struct{ vocab, depth, rows int }{{1, 1, 1}, {5, 3, 7}, {127, 16, 6}, {128, 16, 5}, {129, 9, 12}, {1000, 33, 13}, {3333, 64, 41}} {
		for _, scale := range []float32{0, 0.1, 1, 100} {
			weights, states := random(size.vocab*size.depth, 1), random(size.rows*size.depth, scale)
			exact, of := weights, states
			if half {
				exact, of = rounded(slices.Clone(weights)), rounded(slices.Clone(states))
			}
			l := scores(t, weights, states, size.vocab, size.depth, 2, half)
			for r := range size.rows {
				top, sum := math.Inf(-1), 0.0
				row := make([]float64, size.vocab)
				for v := range row {
					for k := range size.depth {
						row[v] += float64(of[r*size.depth+k]) * float64(exact[v*size.depth+k])
					}
					got := l.Values[r*size.vocab+v]
					if math.Abs(float64(got)-row[v]) > 1e-5*float64(size.depth)*math.Max(float64(scale), 1e-9) {
						t.Fatalf("%+v, row %d, token %d: %v, want %v", size, r, v, got, row[v])
					}
					row[v] = float64(got)
					top = max(top, row[v])
				}
				for b := range Blocks(size.vocab) {
					want := slices.Max(row[b*Block : min((b+1)*Block, size.vocab)])
					if got := l.Maxima[r*Blocks(size.vocab)+b]; float64(got) != want {
						t.Errorf("%+v, row %d: maximum %d is %v, want %v", size, r, b, got, want)
					}
				}
				for _, v := range row {
					sum += math.Exp(v - top)
				}
				if want := top + math.Log(sum); math.Abs(float64(l.Norms[r])-want) > 1e-6*math.Max(1, math.Abs(want)) {
					t.Errorf("%+v of scale %v, row %d: norm %v, want %v", size, scale, r, l.Norms[r], want)
				}
			}
			if one := scores(t, weights, states, size.vocab, size.depth, 1, half); !slices.Equal(one.Values, l.Values) || !slices.Equal(one.Norms, l.Norms) {
				t.Errorf("%+v: one thread gives another result", size)
			}
			h := testkit.Value(Pack(weights, size.vocab, size.depth, half))(t)
			var other Logits
			if err := h.scores(&other, states, 2, false); err != nil || !slices.Equal(other.Values, l.Values) || !slices.Equal(other.Norms, l.Norms) {
				t.Errorf("%+v: goroutines give another result, %v", size, err)
			}
			for r := range size.rows {
				alone := scores(t, weights, states[r*size.depth:(r+1)*size.depth], size.vocab, size.depth, 1, half)
				if !slices.Equal(alone.Values, l.Values[r*size.vocab:(r+1)*size.vocab]) || alone.Norms[0] != l.Norms[r] {
					t.Errorf("%+v: row %d alone gives another result", size, r)
				}
			}
		}
	}
}

func TestScoresAreNotFinite(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		for _, at := range []int{0, 77, 299} {
			weights, states := random(300*4, 1), []float32{1, 1, 1, 1}
			weights[at*4+3] = bad
			for range 2 {
				for name, pack := range heads(weights, 300, 4) {
					if math.IsInf(float64(bad), -1) && name != "int8" {
						continue // a score of -Inf is one, where numbers have no common factor
					}
					h := testkit.Value(pack())(t)
					var l Logits
					testkit.None(t, h.Scores(&l, states, 1))
					if n := float64(l.Norms[0]); !math.IsNaN(n) && !math.IsInf(n, 0) {
						t.Errorf("%s, %v at %d: norm %v", name, bad, at, n)
					}
				}
				weights, states[2] = random(300*4, 1), bad
			}
		}
	}
}

// heads pack weights in every way.
func heads(weights []float32, vocab, depth int) map[string]func() (*Head, error) {
	return map[string]func() (*Head, error){
		"fp32": func() (*Head, error) { return Pack(weights, vocab, depth, false) },
		"bf16": func() (*Head, error) { return Pack(weights, vocab, depth, true) },
		"int8": func() (*Head, error) { return PackInt8(weights, vocab, depth) },
	}
}

func TestMistakes(t *testing.T) {
	testkit.Some(t, testkit.Err(Pack(make([]float32, 7), 2, 4, false)), "too few weights were packed")
	h, err := Pack(make([]float32, 8), 2, 4, false)
	if err != nil || h.Vocab != 2 || h.Scores(&Logits{}, make([]float32, 6), 1) == nil || h.Scores(&Logits{}, nil, 1) == nil {
		t.Errorf("half a state was multiplied; %v", err)
	}
}

// BenchmarkScores is one step of 8 queries with 40, 4 and one beam of T5 Efficient Tiny.
func BenchmarkScores(b *testing.B) {
	const vocab, depth = 32128, 256
	weights := random(vocab*depth, 1)
	packs := heads(weights, vocab, depth)
	packs["int8 by AVX2"] = packs["int8"]
	for name, pack := range packs {
		h := testkit.Value(pack())(b)
		if name == "int8 by AVX2" {
			h.of = max(h.of, plain8-1)
		}
		for _, rows := range []int{320, 32, 8} {
			states := random(rows*depth, 1)
			b.Run(fmt.Sprintf("%s/%d", name, rows), func(b *testing.B) {
				var l Logits
				for b.Loop() {
					testkit.None(b, h.Scores(&l, states, 2))
				}
				b.ReportMetric(2e-9*float64(rows*vocab*depth*b.N)/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}

// BenchmarkProduct is one of a layer of it.
func BenchmarkProduct(b *testing.B) {
	for _, size := range [][3]int{{320, 256, 256}, {320, 256, 1024}, {320, 1024, 256}, {32, 256, 256}, {8, 256, 256}, {8, 256, 1024}} {
		m, k, n := size[0], size[1], size[2]
		h := testkit.Value(PackInt8(random(n*k, 1), n, k))(b)
		x, out := random(m*k, 1), make([]float32, m*n)
		for kind := h.of; kind <= plain8; kind++ {
			b.Run(fmt.Sprintf("%dx%dx%d/%d", m, k, n, kind), func(b *testing.B) {
				o := *h
				o.of = kind
				var rows Rows
				for b.Loop() {
					rows.Set(x, k, 2)
					testkit.None(b, o.Product(out, &rows, nil, 2))
				}
				b.ReportMetric(2e-9*float64(m*n*k*b.N)/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}
