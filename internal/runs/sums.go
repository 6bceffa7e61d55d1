package runs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/usage"
)

// Bounds of what is read.
const (
	runsAsked   = 5    // the newest runs of a pipeline, for how long its steps took,
	runsLooked  = 50   // among so many runs of the store
	spentLooked = 1024 // results in memory at a time
)

// Took returns how many seconds the steps of a pipeline took when they last ran, by address, as far as the newest records
// of its runs tell. It is for giving out work only.
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

// SpentBy adds up the runs of a pipeline of a project. It reads the records of all runs and failures, and of each
// result of these runs: its time grows with them, its memory with the number of different results.
func SpentBy(ctx context.Context, store *artifacts.Resolver, project, pipeline string) (*usage.Spent, error) {
	s := &usage.Spent{}
	seen := map[artifacts.Digest]bool{}
	var keys []artifacts.Digest
	took := map[artifacts.Digest]time.Duration{}
	look := func() error {
		found, err := artifacts.Inspect(ctx, store, keys)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if r := found[key].Result; r != nil {
				s.Results.Add(r.Took, r.Used)
			} else {
				s.Results.Add(took[key], nil)
				s.Gone++
			}
		}
		keys = keys[:0]
		clear(took)
		return nil
	}
	runs := map[string]bool{}
	for rec, err := range Backward(ctx, store.Own, "", func(rec *Record) bool { return rec.Of(project, pipeline) }, 0) {
		_, damaged := errors.AsType[*DamagedError](err)
		switch {
		case damaged:
			s.Damaged++
			continue
		case errors.Is(err, artifacts.ErrNotExist): // deleted meanwhile
			continue
		case err != nil:
			return nil, err
		}
		s.Runs++
		runs[rec.RunID] = true
		for _, x := range rec.Steps {
			if x.Key.IsZero() || seen[x.Key] || !x.Finished() {
				continue
			}
			seen[x.Key] = true
			keys = append(keys, x.Key)
			took[x.Key] = time.Duration(x.TookS * float64(time.Second))
			if len(keys) == spentLooked {
				if err := look(); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := look(); err != nil {
		return nil, err
	}
	return s, Failures(ctx, store.Own, "", func(f Failure) bool {
		switch {
		case !runs[f.RunID]:
		case f.Outcome == Cancelled:
			s.Cancelled.Add(f.TookS)
		default:
			s.Failed.Add(f.TookS)
		}
		return true
	})
}
