package runs

import (
	"maps"
	"slices"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestOpenRunsOfOtherPlans: a run that was killed is closed by a whole one of its plan
// only, and one that stays open makes no record of each run that finds all done.
func TestOpenRunsOfOtherPlans(t *testing.T) {
	store := mem.New()
	killed, now := artifacts.Sum([]byte("killed")), artifacts.Sum([]byte("now"))
	for id, d := range map[string]artifacts.Digest{"killed": killed, "at work": now} {
		errtest.None(t, Begin(t.Context(), store, id, "t.hcl", d))
	}
	key := artifacts.Sum([]byte("key"))
	// Records of releases before have no counts: their steps tell.
	partly := Record{RunID: "1", Pipeline: "t.hcl", Plan: now, Steps: []Step{{Address: "a", Key: key, Outcome: Ran}, {Address: "b", Outcome: Skipped}}}
	errtest.None(t, Write(t.Context(), store, partly))
	if ids := open(t, store); len(ids) != 2 {
		t.Errorf("after a run with a step without result, open: %q", ids)
	}
	whole := partly
	whole.RunID, whole.Steps = "2", partly.Steps[:1]
	errtest.None(t, Write(t.Context(), store, whole))
	if ids := open(t, store); !slices.Equal(ids, []string{"killed"}) {
		t.Errorf("after a whole run, open: %q", ids)
	}
	stored := func() (artifacts.Digest, error) { return now, nil }
	for id, want := range map[string]int{"3": 2, "4": 2} {
		hits := whole
		hits.RunID = id
		errtest.None(t, WriteHits(t.Context(), store, hits, stored))
		if ids, err := IDs(t.Context(), store); err != nil || len(ids) != want {
			t.Errorf("records %q, %v, want %d", ids, err, want)
		}
	}
	changed := whole
	changed.RunID, changed.Steps = "5", []Step{{Address: "a", Key: artifacts.Sum([]byte("other")), Outcome: Hit}}
	errtest.None(t, WriteHits(t.Context(), store, changed, stored))
	if ids, err := IDs(t.Context(), store); err != nil || len(ids) != 3 {
		t.Errorf("records %q, %v: other results were found", ids, err)
	}
}

// TestOpenRunsOfGrownPlans: a whole run closes those of plans that have grown from the same as its own.
// Of plans of another form that is not known.
func TestOpenRunsOfGrownPlans(t *testing.T) {
	store := mem.New()
	put := func(p plan.Plan) artifacts.Digest {
		d, err := plan.Store(t.Context(), store.Blobs, &p)
		errtest.None(t, err)
		return d
	}
	first := put(plan.Plan{Format: plan.Format})
	grown := func(format, by string, of artifacts.Digest) artifacts.Digest {
		return put(plan.Plan{Format: format, Pipeline: by, First: of})
	}
	for id, d := range map[string]artifacts.Digest{"first": first, "grown": grown(plan.Format, "1", first), "of another": grown(plan.Format, "1", artifacts.Sum(nil)),
		"form": grown("redsi-plan/0", "1", first), "gone": artifacts.Sum([]byte("gone"))} {
		errtest.None(t, Begin(t.Context(), store, id, "t.hcl", d))
	}
	errtest.None(t, Write(t.Context(), store, Record{RunID: "whole", Plan: grown(plan.Format, "2", first), Steps: []Step{{Key: first, Outcome: Hit}}}))
	if ids := open(t, store); !slices.Equal(ids, []string{"form", "gone", "of another"}) {
		t.Errorf("open: %q", ids)
	}
}

func open(t *testing.T, store artifacts.Store) []string {
	t.Helper()
	all, err := AllOpen(t.Context(), store)
	errtest.None(t, err)
	ids := map[string]bool{}
	for _, o := range all {
		ids[o.RunID] = true
	}
	return slices.Sorted(maps.Keys(ids))
}
