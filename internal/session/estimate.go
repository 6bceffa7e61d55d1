package session

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/hours"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// HistoryOf is what an estimate is based on.
func (se *Session) HistoryOf(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal.Journal) (h estimate.History, err error) {
	if h, err = past.History(ctx, store, v); err != nil || v.Done() {
		return h, err
	}
	h.Downloads, err = se.downloads(ctx, store, v)
	return h, err
}

// EstimateOf estimates what a run of a preview takes, from earlier runs.
func (se *Session) EstimateOf(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal.Journal) (*estimate.Estimate, error) {
	h, err := se.HistoryOf(ctx, store, v, past)
	if err != nil {
		return nil, err
	}
	return estimate.Of(v, h), nil
}

// downloads is what steps fetch from other machines that the store lacks. Sizes come from
// the lock file.
func (se *Session) downloads(ctx context.Context, store artifacts.Store, v *plan.Preview) (map[int]estimate.Download, error) {
	todo := map[string]int{}
	for i, it := range v.Items {
		if it.Outcome != plan.Hit {
			todo[v.Plan.Steps[i].Address] = i
		}
	}
	sources, err := origins.Of(v.Plan)
	if err != nil || len(sources) == 0 {
		return nil, err
	}
	if err := origins.Stored(ctx, store, sources); err != nil {
		return nil, err
	}
	lock, err := lockfile.Read(se.LockFile())
	if err != nil {
		return nil, fault.Input(err)
	}
	found := map[int]estimate.Download{}
	for _, s := range sources {
		i, ok := todo[s.Step]
		src, err := fetch.ParseSource(s.Source)
		if !ok || s.InStore || err != nil || src.URL == "" { // a run reports what is wrong with it
			continue
		}
		d := found[i]
		d.Sources++
		if pin, ok := lock.Pinned(s.Source); ok {
			d.Bytes += pin.Size
		} else {
			d.Unknown++
		}
		found[i] = d
	}
	return found, nil
}

// Journal reads what earlier runs left about the steps of a preview that are not hits.
func (se *Session) Journal(ctx context.Context, store artifacts.Store, v *plan.Preview) (*journal.Journal, error) {
	if !v.Done() {
		defer se.Waiting("reading the records of earlier runs")()
	}
	return journal.Read(ctx, se.Registry, store, v, se.Project())
}

// FindRun reads the record of a run of this project, as journal.Find names it.
func (se *Session) FindRun(ctx context.Context, store artifacts.Store, name string) (*workflows.RunRecord, error) {
	return journal.Find(ctx, store, se.Project(), name)
}

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
