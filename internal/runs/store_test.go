package runs

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestOpenRunsOfOtherPlans: a run that was killed is closed by a whole one of its plan
// only, and one that stays open makes no record of each run that finds all done.
func TestOpenRunsOfOtherPlans(t *testing.T) {
	store := mem.New()
	killed, now := artifacts.Sum([]byte("killed")), artifacts.Sum([]byte("now"))
	for id, d := range map[string]artifacts.Digest{"killed": killed, "at work": now} {
		testkit.None(t, Begin(t.Context(), store, id, "t.hcl", d))
	}
	key := artifacts.Sum([]byte("key"))
	// Records of releases before have no counts: their steps tell.
	partly := Record{RunID: "1", Pipeline: "t.hcl", Plan: now, Steps: []Step{{Address: "a", Key: key, Outcome: Ran}, {Address: "b", Outcome: Skipped}}}
	testkit.None(t, Write(t.Context(), store, partly))
	testkit.Is(t, len(open(t, store)), 2, "after a run with a step without result, open")
	whole := partly
	whole.RunID, whole.Steps = "2", partly.Steps[:1]
	testkit.None(t, Write(t.Context(), store, whole))
	testkit.Deep(t, open(t, store), []string{"killed"}, "after a whole run, open")
	stored := func() (artifacts.Digest, error) { return now, nil }
	for id, want := range map[string]int{"3": 2, "4": 2} {
		hits := whole
		hits.RunID = id
		testkit.None(t, WriteHits(t.Context(), store, hits, stored))
		if ids, err := IDs(t.Context(), store); err != nil || len(ids) != want {
			t.Errorf("records %q, %v, want %d", ids, err, want)
		}
	}
	changed := whole
	changed.RunID, changed.Steps = "5", []Step{{Address: "a", Key: artifacts.Sum([]byte("other")), Outcome: Hit}}
	testkit.None(t, WriteHits(t.Context(), store, changed, stored))
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
		testkit.None(t, err)
		return d
	}
	first := put(plan.Plan{Format: plan.Format})
	grown := func(format, by string, of artifacts.Digest) artifacts.Digest {
		return put(plan.Plan{Format: format, Pipeline: by, First: of})
	}
	for id, d := range map[string]artifacts.Digest{"first": first, "grown": grown(plan.Format, "1", first), "of another": grown(plan.Format, "1", artifacts.Sum(nil)),
		"form": grown("redsi-plan/0", "1", first), "gone": artifacts.Sum([]byte("gone"))} {
		testkit.None(t, Begin(t.Context(), store, id, "t.hcl", d))
	}
	testkit.None(t, Write(t.Context(), store, Record{RunID: "whole", Plan: grown(plan.Format, "2", first), Steps: []Step{{Key: first, Outcome: Hit}}}))
	testkit.Deep(t, open(t, store), []string{"form", "gone", "of another"}, "open")
}

func open(t *testing.T, store artifacts.Store) []string {
	t.Helper()
	all, err := AllOpen(t.Context(), store)
	testkit.None(t, err)
	ids := map[string]bool{}
	for _, o := range all {
		ids[o.RunID] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

func TestPermanentFailures(t *testing.T) {
	store := mem.New()
	key, part, other := artifacts.Sum([]byte("k")), artifacts.Sum([]byte("p")), artifacts.Sum([]byte("o"))
	at := func(minute int) time.Time { return time.Date(2026, 11, 23, 6, minute, 0, 0, time.UTC) }
	for _, f := range []Failure{
		{RunID: "r1", Key: key, Error: "first", Permanent: true, Outcome: Failed, Ended: at(1)},
		{RunID: "r2", Key: key, Error: "newest", Permanent: true, Outcome: Failed, Ended: at(3), Part: part},
		{RunID: "r2", Key: part, Error: "newest", Permanent: true, Outcome: Failed, Ended: at(3)},
		{RunID: "r3", Key: key, Error: "transient", Outcome: Failed, Ended: at(4)},
		{RunID: "r4", Key: key, Error: "cancelled", Permanent: true, Outcome: Cancelled, Ended: at(5)},
		{RunID: "r1", Key: other, Error: "other", Permanent: true, Outcome: Failed, Ended: at(9)},
	} {
		testkit.None(t, WriteFailure(t.Context(), store, f))
	}
	testkit.None(t, store.Records.Put(t.Context(), "failures/r9/"+key.Hex(), []byte("{")))
	found, err := PermanentFailures(t.Context(), store, map[artifacts.Digest]bool{key: true})
	testkit.That(t, err == nil && len(found) == 1 && found[key].Times == 2 && found[key].Error == "newest", found, err)
	n := 0
	if err := Failures(t.Context(), store, "r2", func(f Failure) bool { n++; return true }); err != nil || n != 1 {
		t.Errorf("the part's own record alone has the log: %d, %v", n, err)
	}
}

// TestSpent: each key counts once, whichever runs had it; failures of other pipelines and
// runs do not count, and damaged records are told.
func TestSpent(t *testing.T) {
	store := mem.New()
	publish := func(name string, took time.Duration, u *artifacts.Used) artifacts.Digest {
		preimage := []byte(`{"kind":"` + name + `"}`)
		r := artifacts.Result{Key: artifacts.KeyOf(preimage), Preimage: preimage, Took: took, Used: u, Outputs: map[string]artifacts.Artifact{}}
		if _, _, err := artifacts.Publish(t.Context(), artifacts.Alone(store), r); err != nil {
			t.Fatal(err)
		}
		return r.Key
	}
	first := publish("first", time.Hour, &artifacts.Used{CPU: 5, CPUOf: artifacts.CPUOfProgram, Read: 3, Card: "X", CardMemory: 9})
	second := publish("second", time.Minute, nil)
	gone := artifacts.Sum([]byte("gone"))
	run := func(id, project string, steps ...Step) {
		testkit.None(t, Write(t.Context(), store, Record{RunID: id, Pipeline: "p.hcl", Project: project, Steps: steps}))
	}
	run("1", "mine", Step{Address: "a", Key: first, Outcome: Ran, TookS: 3600}, Step{Address: "b", Key: gone, Outcome: Ran, TookS: 30},
		Step{Address: "c", Outcome: Failed})
	run("2", "mine", Step{Address: "a", Key: first, Outcome: Hit, TookS: 3600}, Step{Address: "b", Key: second, Outcome: Ran, TookS: 60})
	run("3", "other", Step{Address: "a", Key: artifacts.Sum([]byte("x")), Outcome: Ran, TookS: 9999})
	for n, f := range []Failure{{RunID: "1", Outcome: Failed, TookS: 20}, {RunID: "2", Outcome: Cancelled, TookS: 7200}, {RunID: "3", Outcome: Failed, TookS: 9999}, {RunID: "0", Outcome: Failed, TookS: 9999}} {
		f.Key = artifacts.Sum(fmt.Append(nil, n))
		testkit.None(t, WriteFailure(t.Context(), store, f))
	}
	testkit.None(t, store.Records.Put(t.Context(), artifacts.RunsPrefix+"4", []byte(`{`)))
	s, err := SpentBy(t.Context(), artifacts.Alone(store), "mine", "p.hcl")
	testkit.None(t, err)
	r := s.Results
	if s.Runs != 2 || s.Damaged != 1 || s.Gone != 1 || r.Steps != 3 || r.Took != time.Hour+90*time.Second || r.CPU != 5 || r.Measured != 1 || r.CardTook != time.Hour {
		t.Errorf("%+v", s)
	}
	if s.Failed.Steps != 1 || s.Failed.TookS != 20 || s.Cancelled.Steps != 1 || s.Cancelled.TookS != 7200 || s.Took() != 3*time.Hour+110*time.Second {
		t.Errorf("%+v, %s in all", s, s.Took())
	}
}

// TestTookOfPipeline: how long steps took is known however many runs of other pipelines the store has
// had since, within bounds.
func TestTookOfPipeline(t *testing.T) {
	store := mem.New()
	write := func(n int, pipeline string) {
		t.Helper()
		rec := Record{RunID: fmt.Sprintf("run-%03d", n), Pipeline: pipeline, Steps: []Step{{Address: "step.a.b", Outcome: Ran, TookS: float64(n)}}}
		testkit.None(t, Write(t.Context(), store, rec))
	}
	write(1, "mine")
	write(2, "mine")
	for n := range runsLooked - 1 {
		write(10+n, "other")
	}
	if got := Took(t.Context(), store, slog.New(slog.DiscardHandler), "", "mine"); len(got) != 1 || got["step.a.b"] != 2 {
		t.Errorf("%v, want 2 s", got)
	}
	write(100, "other")
	testkit.Is(t, len(Took(t.Context(), store, slog.New(slog.DiscardHandler), "", "mine")), 0, runsLooked)
}
