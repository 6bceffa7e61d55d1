package significance

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/redsi/redsi/internal/system/values"
)

// Differences are the differences of two systems, query by query.
type Differences struct {
	Values []float64
	Mean   float64
	Std    float64 // sample standard deviation; 0 for one value
}

// Subtract takes b from a.
func Subtract(a, b []float64) Differences {
	d := Differences{Values: make([]float64, len(a))}
	for i := range a {
		d.Values[i] = a[i] - b[i]
	}
	d.Mean, d.Std = values.MeanStd(d.Values)
	return d
}

// same reports whether all differences are one number, up to rounding: no test has anything to say of them beyond that
// number.
func (d Differences) same() bool { return d.Std <= 1e-14*math.Abs(d.Mean) }

// EffectSize is Cohen's d for pairs: the mean over the standard deviation of the
// differences. ok is false where these do not vary.
func (d Differences) EffectSize() (v float64, ok bool) {
	if d.same() {
		return 0, d.Mean == 0
	}
	return d.Mean / d.Std, true
}

func (d Differences) WinsTiesLosses() (wins, ties, losses int) {
	for _, v := range d.Values {
		switch {
		case v > 0:
			wins++
		case v < 0:
			losses++
		default:
			ties++
		}
	}
	return wins, ties, losses
}

// Interval is where the mean lies with a confidence, by Student's t.
func (d Differences) Interval(confidence float64) (low, high float64) {
	n := float64(len(d.Values))
	if n < 2 || d.same() {
		return d.Mean, d.Mean
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.5 + confidence/2)
	half := t * d.Std / math.Sqrt(n)
	return d.Mean - half, d.Mean + half
}

// PairedT is Student's t-test of pairs, two-sided: t and p, as scipy.stats.ttest_rel.
// Differences that are all one number have p 1 if it is 0, else 0.
func (d Differences) PairedT() (t, p float64) {
	n := float64(len(d.Values))
	switch {
	case d.Mean == 0 || n < 2:
		return 0, 1
	case d.same():
		return math.Inf(int(math.Copysign(1, d.Mean))), 0
	}
	t = d.Mean / (d.Std / math.Sqrt(n))
	return t, mathext.RegIncBeta((n-1)/2, 0.5, (n-1)/(n-1+t*t)) // to many digits also where it is small
}

// Beyond tests the mean against a margin, as claims do. For a margin of 0 or more, within is the p of two one-sided
// t-tests (Schuirmann) that it is nearer to 0 than the margin, and beyond the p, two-sided, that it is further.
// Differences that are all one number have p 0 or 1.
func (d Differences) Beyond(margin float64) (within, beyond float64) {
	n, far := float64(len(d.Values)), math.Abs(d.Mean)
	switch {
	case n < 2:
		return 1, 1
	case d.same():
		return decided(far < margin), decided(far > margin)
	}
	t := (far - margin) / (d.Std / math.Sqrt(n)) // of the nearer bound, whose p is the larger
	below := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.CDF(t)
	return below, min(1, 2*(1-below))
}

// decided is the p of what is certain.
func decided(is bool) float64 {
	if is {
		return 0
	}
	return 1
}
