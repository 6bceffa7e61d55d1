package significance

import (
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/system/words"
)

// Test is how two systems are compared.
type Test string

// The tests, all of them two-sided and of pairs.
const (
	T           Test = "t"
	Permutation Test = "permutation"
	Bootstrap   Test = "bootstrap"
	Wilcoxon    Test = "wilcoxon"
)

// Correction is what many comparisons do to each p.
type Correction string

// The corrections. TukeyHSD takes all pairs of systems together: with T by the studentized
// range, with Permutation by random assignments.
const (
	None       Correction = "none"
	Bonferr    Correction = "bonferroni"
	HolmStep   Correction = "holm"
	FalseShare Correction = "fdr_bh"
	TukeyRange Correction = "tukey_hsd"
)

// Method is how systems are compared.
type Method struct {
	Test       Test
	Correction Correction
	Alpha      float64
	Samples    int // of permutation and bootstrap
	Seed       uint64
}

// Pair is a comparison of two systems by their places.
type Pair struct{ A, B int }

// Outcome is the result of a comparison.
type Outcome struct {
	Differences
	Statistic *float64 // of t and wilcoxon; nil where it is infinite, and for others
	P         float64  // of the test; with TukeyHSD of all pairs together
	Low, High float64  // of the mean difference, with confidence 1 - alpha
	Exact     bool     // Permutation tried all signs
}

// Compare tests pairs of systems of one measure. What Outcome.P is corrected by is up to Correct, as a family of
// comparisons may be of several measures. stream tells measures apart: each has random numbers of its own.
func (m Method) Compare(t Table, pairs []Pair, stream uint64) []Outcome {
	out := make([]Outcome, len(pairs))
	seed := func(i int) uint64 {
		r := splitmix.Source(m.Seed<<32 ^ stream<<16 ^ uint64(i))
		return r.Next()
	}
	var tukey func(a, b int) float64
	if m.Correction == TukeyRange {
		tukey = t.TukeyHSD()
		if m.Test == Permutation {
			tukey = t.RandomizedTukeyHSD(m.Samples, seed(0))
		}
	}
	for i, p := range pairs {
		o := Outcome{Differences: Subtract(t[p.A], t[p.B])}
		o.Low, o.High = o.Interval(1 - m.Alpha)
		switch {
		case tukey != nil:
			o.P = tukey(p.A, p.B)
		case m.Test == T:
			statistic, v := o.PairedT()
			if o.P = v; !math.IsInf(statistic, 0) {
				o.Statistic = &statistic
			}
		case m.Test == Wilcoxon:
			statistic, v := o.Wilcoxon()
			o.P, o.Statistic = v, &statistic
		case m.Test == Permutation:
			o.P, o.Exact = o.Permutation(m.Samples, seed(i))
		case m.Test == Bootstrap:
			o.P, o.Low, o.High = o.Bootstrap(m.Samples, seed(i), 1-m.Alpha)
		}
		out[i] = o
	}
	return out
}

// Correct is the p of a family of comparisons.
func (m Method) Correct(ps []float64) []float64 {
	switch m.Correction {
	case Bonferr:
		return Bonferroni(ps)
	case HolmStep:
		return Holm(ps)
	case FalseShare:
		return BenjaminiHochberg(ps)
	}
	return ps
}

// String says the method for a caption, without alpha. family is how many comparisons are
// corrected together, systems how many TukeyHSD compares.
func (m Method) String(family, systems int) string {
	test := map[Test]string{T: "paired t-test", Permutation: "paired randomization test", Bootstrap: "paired bootstrap test", Wilcoxon: "Wilcoxon signed-rank test"}[m.Test]
	name := map[Correction]string{Bonferr: "Bonferroni", HolmStep: "Holm", FalseShare: "Benjamini-Hochberg"}[m.Correction]
	switch {
	case name != "":
		return fmt.Sprintf("%s, %s correction for %s", test, name, words.Count(family, "comparison"))
	case m.Correction == TukeyRange && m.Test == Permutation:
		return fmt.Sprintf("randomized Tukey HSD of %d systems", systems)
	case m.Correction == TukeyRange:
		return fmt.Sprintf("Tukey HSD of %d systems with queries as blocks", systems)
	}
	return test + ", no correction"
}
