package session

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// EstimateOf estimates what a run of a preview takes, from earlier runs.
func (se *Session) EstimateOf(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, past *journal.Journal) (*estimate.Estimate, error) {
	h, err := past.History(ctx, store, v)
	if err == nil && !v.Done() {
		if h.Downloads, err = se.downloads(ctx, store, v); err == nil {
			prices := se.Pricing(ctx, store, v)
			h.Priced, h.OnRates = prices.Price(v, h.Downloads), prices.On != nil
		}
	}
	if err != nil {
		return nil, err
	}
	return estimate.Of(v, h), nil
}

// RatesFolder has what was measured of devices, here or elsewhere.
func (se *Session) RatesFolder() string { return filepath.Join(se.StateDir, "rates") }

// Pricing is what the steps of a preview are priced by, on this machine or on se.On.
func (se *Session) Pricing(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) estimate.Pricing {
	all, _ := rates.Read(se.RatesFolder()) // doctor says which cannot be used
	p := estimate.Pricing{Registry: se.Registry, HasCard: device.Count() > 0, On: se.On}
	if i := slices.IndexFunc(all, func(r rates.Rates) bool { return r.Device == attest.CPU() }); i >= 0 {
		p.CPU = &all[i]
		p.HasCard = p.HasCard && len(p.CPU.Cards) > 0
		if i := slices.IndexFunc(all, func(r rates.Rates) bool { return r.Card && slices.Contains(p.CPU.Cards, r.Device) }); i >= 0 {
			p.Card = &all[i]
		}
	}
	p.Counts = func(i int) map[string]int64 {
		key := v.Items[i].Key
		if found, err := artifacts.Inspect(ctx, store, []artifacts.Digest{key}); err == nil && found[key].Result != nil {
			return found[key].Result.Counts
		}
		return nil
	}
	return p
}

// downloads is what steps fetch that the store lacks. Sizes are the lock file's, or as a step declares them.
func (se *Session) downloads(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) (map[int]estimate.Download, error) {
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
	found, all, places := map[int]estimate.Download{}, map[string]int{}, v.Plan.Places()
	for _, s := range sources {
		i := places[s.Step]
		all[s.Step]++
		src, err := fetch.ParseSource(s.Source)
		if v.Items[i].Outcome == plan.Hit || s.InStore || err != nil || src.URL == "" { // a run reports what is wrong with it
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
	for i, d := range found {
		task := v.Plan.Steps[i].Task
		if size := se.Registry.Lookup(task.Kind).Work(task).Counts[step.BytesCount].Times; d.Unknown > 0 && size > 0 {
			size *= float64(d.Sources) / float64(all[v.Plan.Steps[i].Address])
			found[i] = estimate.Download{Bytes: max(d.Bytes, int64(size)), Sources: d.Sources}
		}
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
func (se *Session) FindRun(ctx context.Context, store artifacts.Store, name string) (*runs.Record, error) {
	return journal.Find(ctx, store, se.Project(), name)
}
