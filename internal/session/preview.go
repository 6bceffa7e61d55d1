package session

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// IsTarget reports whether a step is among the targets, or there are none.
func (se *Session) IsTarget(address string) bool {
	return len(se.Targets) == 0 || slices.ContainsFunc(se.Targets, func(target string) bool { return plan.Matches(target, address) })
}

// Seen is a preview, with its plan, pipeline and stores.
type Seen struct {
	*plan.Preview
	Plan     *plan.Plan
	Pipeline *pipeline.Pipeline
	Store    *artifacts.Resolver // with the stores of others behind it
}

// Ask says which results a preview holds in memory (nil: none), once there are a plan and an open store.
type Ask func(of Seen) (plan.Keep, error)

func Everything(Seen) (plan.Keep, error) { return plan.KeepAll, nil }

func Named(target string) Ask {
	return func(of Seen) (plan.Keep, error) {
		return func(i int, _ *plan.Item) bool { return plan.Matches(target, of.Plan.Steps[i].Address) }, nil
	}
}

func Rendered(of Seen) (plan.Keep, error) {
	return func(i int, _ *plan.Item) bool { return of.Plan.Steps[i].IsRendered() }, nil
}

// AsItStands has previews take failed steps of on_failure blocks for failed and stale results for fresh, until back is called.
func (se *Session) AsItStands() (back func()) {
	was := se.asItStands
	se.asItStands = true
	return func() { se.asItStands = was }
}

// Preview reads the pipeline, plans the targets, opens the stores and looks up what they have, as it stands.
func (se *Session) Preview(ctx context.Context, ask Ask) (Seen, error) {
	defer se.AsItStands()()
	pl, p, err := se.LoadPlan(ctx)
	if err != nil {
		return Seen{}, err
	}
	return se.previewed(ctx, Seen{Plan: pl, Pipeline: p}, ask)
}

// PreviewStep makes the one step that an address names the target. It is Preview with its result, and its place in the plan.
func (se *Session) PreviewStep(ctx context.Context, address string) (v Seen, i int, err error) {
	se.Targets = []string{address}
	if v, err = se.Preview(ctx, Named(address)); err != nil {
		return v, 0, err
	}
	i = slices.IndexFunc(v.Plan.Steps, func(s plan.Step) bool { return s.Address == address })
	if i < 0 {
		err = fault.Input(fmt.Errorf("%s is more than one step; name one instance", address))
	}
	return v, i, err
}

// PreviewSteps is Preview for a run, without the pipeline, which need not stay in memory while results are looked up.
func (se *Session) PreviewSteps(ctx context.Context, ask Ask) (Seen, error) {
	pl, _, err := se.LoadPlan(ctx)
	if err != nil {
		return Seen{}, err
	}
	return se.previewed(ctx, Seen{Plan: pl}, ask)
}

// PreviewTargets is Preview for other targets of a pipeline that was read.
func (se *Session) PreviewTargets(ctx context.Context, p *pipeline.Pipeline, targets []string, ask Ask) (Seen, error) {
	defer se.AsItStands()()
	pl, p, err := se.planGrown(ctx, p, targets, true)
	if err != nil {
		return Seen{}, err
	}
	return se.previewed(ctx, Seen{Plan: pl, Pipeline: p}, ask)
}

func (se *Session) previewed(ctx context.Context, seen Seen, ask Ask) (_ Seen, err error) {
	if seen.Store, err = se.OpenStore(ctx); err != nil {
		return seen, err
	}
	var keep plan.Keep = plan.KeepNone
	if ask != nil {
		if keep, err = ask(seen); err != nil {
			return seen, err
		}
	}
	seen.Preview, err = se.PreviewOf(ctx, seen.Store, seen.Plan, keep)
	return seen, err
}

// PreviewOf looks up a plan's results in a store and the stores behind it.
func (se *Session) PreviewOf(ctx context.Context, store *artifacts.Resolver, pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
	defer se.Waiting("looking up " + words.Count(len(pl.Steps), "step") + " in " + se.Places())()
	policy, _ := se.Policy() // an error is told where it matters, by who opens the stores
	se.Belief = belief.New(policy)
	at := time.Now()
	if se.asItStands {
		at = time.Time{}
	}
	return pl.FollowWithout(ctx, se.Registry, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return se.Belief.Lookup(ctx, store, keys)
	}, keep, store.Open, func(_ int, has bool) bool { return se.asItStands && !has }, at)
}

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

// Cost estimates what a run of a preview takes, from all that a store has of earlier runs.
func (se *Session) Cost(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) (*estimate.Estimate, error) {
	past, err := se.Journal(ctx, store.Own, v)
	if err != nil {
		return nil, err
	}
	return se.EstimateOf(ctx, store, v, past)
}

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
