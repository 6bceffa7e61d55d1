package activities

import (
	"context"
	"slices"
	"strings"

	"github.com/redsi/redsi/workflows"
)

// runsAsked is how many run records are read for how long steps took, newest first.
const runsAsked = 5

// took is how many seconds the steps of a pipeline took when they last ran, by address:
// as far as the newest records of its runs say so. Nothing depends on it but how the
// work is given out.
func (a *Activities) took(ctx context.Context, project, pipeline string) map[string]float64 {
	seconds := map[string]float64{}
	names, err := recordNames(ctx, a.Store.Records, runPrefix)
	if err != nil {
		a.Log.Debug("how long steps took is not known", "err", err)
		return seconds
	}
	slices.Sort(names)
	for n, name := range slices.Backward(names) {
		if len(names)-n > runsAsked {
			break
		}
		rec, err := ReadRun(ctx, a.Store, strings.TrimPrefix(name, runPrefix))
		if err != nil || !rec.Of(project, pipeline) {
			continue
		}
		for _, s := range rec.Steps {
			if _, known := seconds[s.Address]; !known && (s.Outcome == workflows.Hit || s.Outcome == workflows.Ran) {
				seconds[s.Address] = s.TookS
			}
		}
	}
	return seconds
}
