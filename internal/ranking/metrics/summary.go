package metrics

import (
	"math"
)

// Summary is the mean of n values and their sample standard deviation (n-1 below
// the line), which is 0 for one value.
type Summary struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	N    int     `json:"n"`
}

// Summarize needs at least one value.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values)}
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(s.N)
	if s.N == 1 {
		return s
	}
	var squares float64
	for _, v := range values {
		d := v - s.Mean
		squares += float64(d * d)
	}
	s.Std = math.Sqrt(squares / float64(s.N-1))
	return s
}
