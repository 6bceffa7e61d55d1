package journal

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// sizesRead is how many earlier results of a block have their size looked up; the others are
// taken to be similar.
const sizesRead = 64

// History is what an estimate is based on, but for downloads.
func (j *Journal) History(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) (h estimate.History, err error) {
	if v.Done() {
		return h, nil
	}
	if err := j.sizes(ctx, store, v); err != nil {
		return h, err
	}
	h.Samples = map[int][]estimate.Sample{}
	for i, s := range v.Plan.Steps {
		for _, x := range j.spent[s.Address] {
			sample, ok := j.samples[x.key]
			if sample.Took = x.took; !ok {
				sample.Bytes = -1
			}
			h.Samples[i] = append(h.Samples[i], sample)
		}
	}
	h.Resumes = map[int]bool{}
	for i := range j.Saved {
		h.Resumes[i] = true
	}
	return h, nil
}

// sizes looks up how large earlier results are, of some steps of each block.
func (j *Journal) sizes(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) error {
	var keys []artifacts.Digest
	asked := map[string]int{}
	for i, s := range v.Plan.Steps {
		spent := j.spent[s.Address]
		if v.Items[i].Outcome == plan.Hit || len(spent) == 0 || s.Pending() {
			continue
		}
		block := s.Block()
		if asked[block]++; asked[block] > sizesRead {
			continue
		}
		if _, known := j.samples[spent[0].key]; !known {
			keys = append(keys, spent[0].key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := j.inspect(ctx, store, keys)
	return err
}
