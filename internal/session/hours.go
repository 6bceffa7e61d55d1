package session

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/hours"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
)

// KeepForHours keeps the results that works read, and those of steps on cards.
func (se *Session) KeepForHours(pl *plan.Plan) plan.Keep {
	asked, held := hours.Asked(pl, se.Registry), 0
	return func(i int, _ *plan.Item) bool {
		if asked[i] {
			return true
		}
		if pl.Steps[i].Queue != "gpu" || held == journal.HeldForHours {
			return false
		}
		held++
		return true
	}
}

// HoursOf estimates the hours of a preview that kept for them, and reads from
// the store what they depend on.
func (se *Session) HoursOf(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal.Journal, e *estimate.Estimate, o hours.Options) (*hours.Hours, error) {
	earlier, err := past.OnCards(ctx, store.Own(), v)
	if err != nil {
		return nil, err
	}
	return hours.Of(v, se.Registry, e, hours.Facts{
		Counts: func(i int) map[string]int64 {
			if r := v.Items[i].Result; r != nil {
				return r.Counts
			}
			return nil
		},
		File: func(i int, output, name string) ([]byte, error) {
			return fileOf(ctx, store, v.Items[i].Result, output, name)
		},
		Took: func(i int) []hours.Took {
			if r := v.Items[i].Result; r != nil {
				return journal.TookOnCard(r)
			}
			return earlier[i]
		},
	}, o)
}

// mostOfFile bounds a config.json or a report.
const mostOfFile = 1 << 20

// fileOf reads a file of a result's output; nil if there is none.
func fileOf(ctx context.Context, store artifacts.Store, r *artifacts.Result, output, name string) ([]byte, error) {
	if r == nil || r.Released {
		return nil, nil
	}
	of, ok := r.Outputs[output]
	digest := of.Digest
	if name != "" && ok {
		var f artifacts.File
		f, ok = of.File(name)
		digest = f.Digest
	}
	if !ok {
		return nil, nil
	}
	return artifacts.ReadBlob(ctx, store.Blobs, digest, mostOfFile)
}
