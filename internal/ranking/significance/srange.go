package significance

import "math"

// Gauss-Legendre nodes and weights of 16 points on [-1, 1], half of them.
var (
	legendreX = [8]float64{0.0950125098376374402, 0.2816035507792589132, 0.4580167776572273863, 0.6178762444026437484,
		0.7554044083550030339, 0.8656312023878317439, 0.9445750230732325761, 0.9894009349916499326}
	legendreW = [8]float64{0.1894506104550684963, 0.1826034150449235889, 0.1691565193950025382, 0.1495959888165767321,
		0.1246289712555338720, 0.0951585116824927848, 0.0622535239386478929, 0.0271524594117540949}
)

// integrate sums f over panels of an interval.
func integrate(from, to float64, panels int, f func(x float64) float64) float64 {
	half := (to - from) / float64(2*panels)
	sum := 0.0
	for p := range panels {
		middle := from + half*float64(2*p+1)
		for i, x := range legendreX {
			sum += legendreW[i] * (f(middle-half*x) + f(middle+half*x))
		}
	}
	return sum * half
}

func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// rangeBeyond is the probability that the range of k standard normal values exceeds w.
func rangeBeyond(w float64, k int) float64 {
	const far = 8.5 // beyond it the density is below 1e-16
	within := integrate(-far, far, 20, func(z float64) float64 {
		return math.Exp(-z*z/2) * math.Pow(normalCDF(z)-normalCDF(z-w), float64(k-1))
	})
	return max(0, 1-within*float64(k)/math.Sqrt(2*math.Pi))
}

// StudentizedRange is the probability that the range of k normal values over an independent estimate of their deviation
// with df degrees of freedom exceeds q, as scipy.stats.studentized_range.sf.
func StudentizedRange(q float64, k int, df float64) float64 {
	switch {
	case q <= 0:
		return 1
	case df > 1e6 || math.IsInf(q, 1):
		return rangeBeyond(q, k)
	}
	// The estimate over the deviation is s, chi over the root of df.
	g, _ := math.Lgamma(df / 2)
	constant := df/2*math.Log(df) - g - (df/2-1)*math.Ln2
	spread := 12 / math.Sqrt(2*df)
	p := integrate(max(0, 1-spread), 1+spread, 24, func(s float64) float64 {
		density := math.Exp(constant + (df-1)*math.Log(s) - df*s*s/2)
		if density < 1e-18 {
			return 0
		}
		return density * rangeBeyond(q*s, k)
	})
	return min(1, p)
}
