package session

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
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
