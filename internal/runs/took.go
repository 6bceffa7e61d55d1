package runs

import (
	"context"
	"log/slog"

	"github.com/redsi/redsi/artifacts"
)

// Bounds of what is read for how long steps took, newest first: runs of the pipeline, and
// records of runs, of which others of the store may be most.
const (
	runsAsked  = 5
	runsLooked = 50
)

// Took is how many seconds the steps of a pipeline took when they last ran, by address:
// as far as the newest records of its runs say so. Nothing depends on it but how the
// work is given out.
func Took(ctx context.Context, store artifacts.Store, log *slog.Logger, project, pipeline string) map[string]float64 {
	seconds := map[string]float64{}
	asked := 0
	for rec, err := range Backward(ctx, store, "", func(rec *Record) bool { return rec.Of(project, pipeline) }, runsLooked) {
		if err != nil {
			log.Debug("could not read how long steps took", "err", err)
			continue
		}
		for _, s := range rec.Steps {
			if _, known := seconds[s.Address]; !known && s.Finished() {
				seconds[s.Address] = s.TookS
			}
		}
		if asked++; asked == runsAsked {
			break
		}
	}
	return seconds
}
