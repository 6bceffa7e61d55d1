package metrics

import "github.com/redsi/redsi/internal/system/values"

// Summary is the mean of n values and their sample standard deviation (n-1 below
// the line), which is 0 for one value.
type Summary struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	N    int     `json:"n"`
}

// Summarize needs at least one value.
func Summarize(list []float64) Summary {
	mean, std := values.MeanStd(list)
	return Summary{mean, std, len(list)}
}
