package significance

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/values"
)

// golden is what tools/golden/significance.py wrote.
type golden struct {
	Sets []struct {
		Systems Table
		Pairs   []struct {
			A, B         int
			T, Low, High float64
			TP           float64 `json:"t_p"`
			W            float64
			WP           float64 `json:"w_p"`
			PermutationP float64 `json:"permutation_p"`
			EffectSize   float64 `json:"d"`

			Within, Beyond float64 // of 0.05
		}
		HSD              [][3]float64
		Holm, Bonferroni []float64
		FalseShare       []float64 `json:"fdr_bh"`
	}
	StudentizedRange [][4]float64 `json:"studentized_range"`
	Ratios           []struct {
		Strata   []Stratum
		Interval [2]float64
	}
}

func open(t *testing.T) (g golden) {
	t.Helper()
	goldens.JSON(t, "testdata/scipy.json", &g)
	return g
}

func near(t *testing.T, what string, got, want, margin float64) {
	t.Helper()
	if !(math.Abs(got-want) <= margin) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestScipy: tests, intervals and corrections are equal to scipy's and statsmodels'.
func TestScipy(t *testing.T) {
	for _, set := range open(t).Sets {
		var ps []float64
		for _, p := range set.Pairs {
			d := Subtract(set.Systems[p.A], set.Systems[p.B])
			statistic, v := d.PairedT()
			near(t, "t", statistic, p.T, 1e-9)
			near(t, "p of t", v, p.TP, 1e-12)
			if p.TP > 0 {
				near(t, "p of t, relative", v/p.TP, 1, 1e-8)
			}
			ps = append(ps, v)
			low, high := d.Interval(0.95)
			near(t, "low", low, p.Low, 1e-9)
			near(t, "high", high, p.High, 1e-9)
			w, v := d.Wilcoxon()
			near(t, "W", w, p.W, 1e-9)
			near(t, "p of W", v, p.WP, 1e-9)
			within, beyond := d.Beyond(0.05)
			near(t, "p of two one-sided tests", within, p.Within, 1e-9)
			near(t, "p of beyond", beyond, p.Beyond, 1e-9)
			size, ok := d.EffectSize()
			near(t, "effect size", size, p.EffectSize, 1e-10)
			v, exact := d.Permutation(100_000, 3)
			if len(d.Values) <= 12 && (!exact || !ok) {
				t.Error("few signs were not tried all")
			}
			near(t, "p of permutation", v, p.PermutationP, map[bool]float64{true: 1e-12, false: 0.006}[exact])
			again, _ := d.Permutation(100_000, 3)
			if other, _ := d.Permutation(100_000, 4); again != v || !exact && v > 0.01 && other == v {
				t.Errorf("seeds: %v, again %v, another %v", v, again, other)
			}
		}
		for i, v := range Holm(ps) {
			near(t, "Holm", v, set.Holm[i], 1e-10)
		}
		for i, v := range Bonferroni(ps) {
			near(t, "Bonferroni", v, set.Bonferroni[i], 1e-10)
		}
		for i, v := range BenjaminiHochberg(ps) {
			near(t, "Benjamini-Hochberg", v, set.FalseShare[i], 1e-10)
		}
		hsd, random := set.Systems.TukeyHSD(), set.Systems.RandomizedTukeyHSD(20_000, 1)
		for _, p := range set.HSD {
			near(t, "Tukey's HSD", hsd(int(p[0]), int(p[1])), p[2], 1e-8)
			near(t, "randomized Tukey HSD", random(int(p[0]), int(p[1])), p[2], 0.06)
		}
	}
}

func TestStudentizedRange(t *testing.T) {
	for _, g := range open(t).StudentizedRange {
		near(t, "studentized range", StudentizedRange(g[0], int(g[1]), g[2]), g[3], 1e-8)
	}
}

// TestTukeyOfTwo: of two systems it is the paired t-test, and the randomization test.
func TestTukeyOfTwo(t *testing.T) {
	for _, set := range open(t).Sets {
		two := set.Systems[:2]
		d := Subtract(two[0], two[1])
		_, want := d.PairedT()
		near(t, "HSD of two", two.TukeyHSD()(0, 1), want, 1e-8)
		want, _ = d.Permutation(100_000, 1)
		near(t, "randomized HSD of two", two.RandomizedTukeyHSD(100_000, 2)(0, 1), want, 0.006)
	}
}

// TestBootstrapExact compares draws with all 6^6 of them.
func TestBootstrapExact(t *testing.T) {
	d := Subtract([]float64{0.5, 0.25, 1, 0, 0.2, 0.6}, []float64{0.1, 0.35, 0.2, 0, 0.1, 0.2})
	n := len(d.Values)
	all := 1
	for range n {
		all *= n
	}
	hits := 0
	var means []float64
	for draw := range all {
		sum := 0.0
		for i, rest := 0, draw; i < n; i, rest = i+1, rest/n {
			sum += d.Values[rest%n]
		}
		mean := sum / float64(n)
		means = append(means, mean)
		if math.Abs(mean-d.Mean) >= math.Abs(d.Mean)-1e-12 {
			hits++
		}
	}
	slices.Sort(means)
	p, low, high := d.Bootstrap(200_000, 9, 0.95)
	near(t, "p", p, float64(hits)/float64(all), 0.004)
	near(t, "low", low, values.Quantile(means, 0.025), 0.011)
	near(t, "high", high, values.Quantile(means, 0.975), 0.011)
}

// TestNoDifference: equal systems, and systems that differ by one number, have a p too.
func TestNoDifference(t *testing.T) {
	same := []float64{0.1, 0.2, 0.7}
	d := Subtract(same, same)
	_, paired := d.PairedT()
	_, wilcoxon := d.Wilcoxon()
	permutation, _ := d.Permutation(100, 1)
	bootstrap, _, _ := d.Bootstrap(100, 1, 0.95)
	_, one := Subtract([]float64{1}, []float64{0}).PairedT()
	for name, p := range map[string]float64{"t": paired, "Wilcoxon": wilcoxon, "permutation": permutation, "bootstrap": bootstrap,
		"Tukey": (Table{same, same, same}).TukeyHSD()(0, 2), "t of one query": one} {
		near(t, name, p, 1, 0)
	}
	d = Subtract([]float64{1.5, 2.5, 3.5}, []float64{1, 2, 3})
	if statistic, p := d.PairedT(); p != 0 || !math.IsInf(statistic, 1) {
		t.Errorf("one difference: %v, %v", statistic, p)
	}
	if _, ok := d.EffectSize(); ok {
		t.Error("differences that do not vary have an effect size")
	}
	if w, ties, l := Subtract([]float64{1, 0, 0}, []float64{0, 0, 1}).WinsTiesLosses(); w != 1 || ties != 1 || l != 1 {
		t.Errorf("%d %d %d", w, ties, l)
	}
}
