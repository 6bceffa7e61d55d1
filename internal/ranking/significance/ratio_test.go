package significance

import (
	"math"
	"testing"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/system/lists"
)

// TestRatio: percentiles are numpy's of the same bootstrap, and follow from the seed.
func TestRatio(t *testing.T) {
	for i, g := range open(t).Ratios {
		value, low, high := Ratio(g.Strata, 40_000, 5, 0.95)
		above, below := 0.0, 0.0
		for _, s := range g.Strata {
			above += s.Weight * sum(s.Above)
			below += s.Weight * sum(s.Below)
		}
		near(t, "value", value, above/below, 1e-12)
		margin := 0.012 * (g.Interval[1] - g.Interval[0])
		near(t, "low", low, g.Interval[0], margin)
		near(t, "high", high, g.Interval[1], margin)
		if _, again, _ := Ratio(g.Strata, 40_000, 5, 0.95); again != low {
			t.Errorf("again %v", again)
		}
		if _, other, _ := Ratio(g.Strata, 40_000, 6, 0.95); i == 0 && other == low { // of few clusters there are few percentiles
			t.Error("another seed draws the same")
		}
	}
}

// TestRatioCovers: of samples of a population whose clusters are alike within, nearly 95 % of
// the intervals have its ratio; intervals that take records for independent would not.
func TestRatioCovers(t *testing.T) {
	r := splitmix.Source(1)
	const clusters, drawn, trials = 2000, 200, 300
	population := Stratum{}
	for range clusters {
		n := 1 + r.Below(8)
		above := 0
		if r.Below(10) < 3 {
			above = n
		}
		population.Above, population.Below = append(population.Above, float64(above)), append(population.Below, float64(n))
	}
	truth := sum(population.Above) / sum(population.Below)
	covered, naive := 0, 0
	for trial := range trials {
		s := Stratum{Fraction: float64(drawn) / clusters}
		order := lists.Places(clusters)
		for i := range drawn {
			k := i + r.Below(clusters-i)
			order[i], order[k] = order[k], order[i]
			s.Above, s.Below = append(s.Above, population.Above[order[i]]), append(s.Below, population.Below[order[i]])
		}
		p, low, high := Ratio([]Stratum{s}, 500, uint64(trial), 0.95)
		if low <= truth && truth <= high {
			covered++
		}
		if math.Abs(p-truth) <= 1.96*math.Sqrt(p*(1-p)*(1-s.Fraction)/sum(s.Below)) {
			naive++
		}
	}
	if covered < trials*91/100 || covered > trials*98/100 || naive > trials*80/100 {
		t.Errorf("%d of %d intervals have the ratio, and %d that do not know of clusters", covered, trials, naive)
	}
}

// TestRatioOfAll: what was drawn whole does not vary, nor does one cluster; nothing below the
// line is no ratio.
func TestRatioOfAll(t *testing.T) {
	for want, of := range map[float64]Stratum{0.375: {Above: []float64{1, 2}, Below: []float64{4, 4}, Fraction: 1}, 0.25: {Above: []float64{1}, Below: []float64{4}, Fraction: 0.1}} {
		if v, low, high := Ratio([]Stratum{of}, 100, 1, 0.95); v != want || low != v || high != v {
			t.Errorf("%v, %v to %v", v, low, high)
		}
	}
	if v, _, _ := Ratio([]Stratum{{Above: []float64{0}, Below: []float64{0}, Fraction: 0.1}}, 100, 1, 0.95); !math.IsNaN(v) {
		t.Errorf("%v", v)
	}
}

// TestBeyondOfOne: differences that do not vary are decided without a test.
func TestBeyondOfOne(t *testing.T) {
	same := Subtract([]float64{0.5, 0.5}, []float64{0.5, 0.5})
	if within, beyond := same.Beyond(0.01); within != 0 || beyond != 1 {
		t.Errorf("%v, %v", within, beyond)
	}
	if within, beyond := Subtract([]float64{1}, []float64{0}).Beyond(0.01); within != 1 || beyond != 1 {
		t.Errorf("of one query: %v, %v", within, beyond)
	}
}
