package cli

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
)

// estimateOf estimates what a run of a preview takes, from earlier runs.
func (a *app) estimateOf(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal) (*estimate.Estimate, error) {
	h, err := a.historyOf(ctx, store, v, past)
	if err != nil {
		return nil, err
	}
	return estimate.Of(v, h), nil
}

// sizesRead is how many earlier results of a block have their size looked up; the others are
// taken to be similar.
const sizesRead = 64

// historyOf is what an estimate is based on.
func (a *app) historyOf(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal) (h estimate.History, err error) {
	if v.Done() {
		return h, nil
	}
	if err := past.sizes(ctx, store, v); err != nil {
		return h, err
	}
	h.Samples = map[int][]estimate.Sample{}
	for i, s := range v.Plan.Steps {
		for _, x := range past.spent[s.Address] {
			bytes, ok := past.bytes[x.key]
			if !ok {
				bytes = -1
			}
			h.Samples[i] = append(h.Samples[i], estimate.Sample{Took: x.took, Bytes: bytes, Memory: past.memory[x.key]})
		}
	}
	h.Resumes = map[int]bool{}
	for i := range past.saved {
		h.Resumes[i] = true
	}
	h.Downloads, err = a.downloads(ctx, store, v)
	return h, err
}

// sizes looks up how large earlier results are, of some steps of each block.
func (j *journal) sizes(ctx context.Context, store artifacts.Store, v *plan.Preview) error {
	var keys []artifacts.Digest
	asked := map[string]int{}
	for i, s := range v.Plan.Steps {
		spent := j.spent[s.Address]
		if v.Items[i].Outcome == plan.Hit || len(spent) == 0 {
			continue
		}
		block := pipeline.BlockOf(s.Address)
		if asked[block]++; asked[block] > sizesRead {
			continue
		}
		if _, known := j.bytes[spent[0].key]; !known {
			keys = append(keys, spent[0].key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := j.inspect(ctx, store, keys)
	return err
}

// downloads is what steps fetch from other machines that the store lacks. Sizes come from
// the lock file.
func (a *app) downloads(ctx context.Context, store artifacts.Store, v *plan.Preview) (map[int]estimate.Download, error) {
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
	lock, err := lockfile.Read(a.lockFile())
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
